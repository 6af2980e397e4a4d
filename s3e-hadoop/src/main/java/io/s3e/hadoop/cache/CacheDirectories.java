// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.cache;

import io.s3e.disk.DiskCacheConfig.Scope;
import io.s3e.hadoop.conf.ConfigValues;
import io.s3e.hadoop.conf.DiskCacheKeys;
import io.s3e.hadoop.conf.ProcessEnvironment;
import io.s3e.hadoop.conf.ToldOnce;
import io.s3e.jvm.OwnLoader;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.s3a.Constants;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Chooses where the cache on disk lies. A directory that cannot be used is left out with a WARN
 * line that says why. A disk may hang, so directories are looked at by threads of their own and
 * left out if they do not answer in time.
 */
final class CacheDirectories {
  private static final Logger LOG = LoggerFactory.getLogger(CacheDirectories.class);
  private static final String XDG = "XDG_CACHE_HOME";
  private static final FileAttribute<?> FOR_USER =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
  private static final Duration PROBE_LIMIT = Duration.ofSeconds(2);

  /** The looks that are under way, perhaps for ever: one at a time for each directory. */
  private static final Map<String, Future<@Nullable String>> LOOKS = new ConcurrentHashMap<>();

  /** File systems in memory or at the end of a network: no local disks. */
  private static final Set<String> NO_DISKS =
      Set.of(
          "tmpfs", "ramfs", "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "lustre",
          "gpfs", "beegfs");

  private final Configuration conf;
  private final ProcessEnvironment environment;
  private final Function<Path, String> fileSystems;

  /**
   * @param conf with per-bucket overrides applied
   * @param fileSystems tells the type of the file system that a directory is on; empty if nobody
   *     knows
   */
  CacheDirectories(
      Configuration conf, ProcessEnvironment environment, Function<Path, String> fileSystems) {
    this.conf = conf;
    this.environment = environment;
    this.fileSystems = fileSystems;
  }

  /** The type of the file system that a directory is on, in words of its system. */
  static String fileSystemOf(Path directory) {
    try {
      return Files.getFileStore(directory).type();
    } catch (IOException | RuntimeException e) {
      // A container may not show its mounts.
      LOG.debug("The file system of {} is not known", directory, e);
      return "";
    }
  }

  private static boolean isNoDisk(String fileSystem) {
    return NO_DISKS.contains(fileSystem) || fileSystem.startsWith("fuse.");
  }

  /** Kinds of places, by what is made where it is missing. */
  private enum Kind {
    /** Nothing: perhaps its disk is not mounted. */
    NAMED,
    /** The directory, with the rights of any new one, as Hadoop does. */
    HADOOP,
    /** The directory, for the user alone, as the XDG specification has it. */
    XDG,
    /** As XDG, in the user's home directory, which exists and belongs to the user. */
    HOME
  }

  /**
   * A setting that names directories.
   *
   * @param name of the setting, for messages
   * @param paths as they stand there
   */
  private record Source(String name, List<Path> paths, Kind kind) {}

  /**
   * The directories that can be used; none if those by default are on no local disk, which an INFO
   * line says: a user who names such a directory gets it.
   *
   * @param explicit as the user chose them; empty for the default
   * @throws IOException if there is none, saying why and what to do
   */
  List<Path> choose(List<Path> explicit, Scope scope) throws IOException {
    Source source =
        explicit.isEmpty()
            ? byDefault(scope)
            : new Source(DiskCacheKeys.DIRECTORIES.name(), explicit, Kind.NAMED);
    List<String> problems = new ArrayList<>();
    List<Path> found = usable(source, problems);
    List<Path> usable =
        explicit.isEmpty()
            ? found.stream().filter(each -> !isNoDisk(fileSystems.apply(each))).toList()
            : found;
    if (usable.isEmpty() && !found.isEmpty()) {
      ToldOnce.info(
          LOG,
          "No cache on local disk: {} names {}, on {}; {} may name it all the same",
          source.name(),
          found,
          fileSystems.apply(found.get(0)),
          DiskCacheKeys.DIRECTORIES.name());
      return List.of();
    }
    if (!usable.isEmpty() && !problems.isEmpty()) {
      ToldOnce.warn(LOG, "Left out of {} for the cache on disk: {}", source.name(), problems);
    }
    if (usable.isEmpty()) {
      throw new IOException(
          source.name()
              + " has no directory that can be used "
              + problems
              + "; set "
              + DiskCacheKeys.DIRECTORIES.name()
              + " to absolute paths of directories that exist and can be written");
    }
    return usable;
  }

  private Source byDefault(Scope scope) {
    return scope == Scope.HOST ? ofUser() : ofApplication();
  }

  private Source ofApplication() {
    List<Source> sources =
        List.of(
            variable("LOCAL_DIRS"),
            // Spark's standalone worker gives them to an application's executors, and deletes them.
            source(
                "SPARK_EXECUTOR_DIRS",
                environment.variable("SPARK_EXECUTOR_DIRS").replace(File.pathSeparatorChar, ','),
                Kind.NAMED),
            variable("SPARK_LOCAL_DIRS"),
            source("spark.local.dir", conf.getTrimmed("spark.local.dir", ""), Kind.NAMED),
            source("spark.local.dir", environment.property("spark.local.dir"), Kind.NAMED),
            source(Constants.BUFFER_DIR, conf.getTrimmed(Constants.BUFFER_DIR, ""), Kind.HADOOP));
    return sources.stream()
        .filter(each -> !each.paths().isEmpty())
        .findFirst()
        .orElseGet(
            () -> source("java.io.tmpdir", environment.property("java.io.tmpdir"), Kind.NAMED));
  }

  /**
   * A place that outlives applications, and that no other user can lay out first, as anybody could
   * in a directory of temporary files.
   */
  private Source ofUser() {
    Source cache = source(XDG, environment.variable(XDG), Kind.XDG);
    if (cache.paths().stream().anyMatch(Path::isAbsolute)) {
      return cache;
    }
    String home = environment.property("user.home");
    return source("user.home", home.isEmpty() ? "" : home + "/.cache", Kind.HOME);
  }

  private Source variable(String name) {
    return source(name, environment.variable(name), Kind.NAMED);
  }

  private static Source source(String name, String text, Kind kind) {
    try {
      return new Source(name, ConfigValues.paths(text), kind);
    } catch (IllegalArgumentException e) {
      ToldOnce.warn(
          LOG, "Not used for the cache on disk: {} = \"{}\" is no list of paths", name, text);
      return new Source(name, List.of(), kind);
    }
  }

  private List<Path> usable(Source source, List<String> problems) {
    List<Future<@Nullable String>> looks =
        source.paths().stream().map(path -> look(path, source.kind())).toList();
    long deadline = System.nanoTime() + PROBE_LIMIT.toNanos();
    List<Path> usable = new ArrayList<>();
    for (int i = 0; i < looks.size(); i++) {
      Path path = source.paths().get(i);
      String problem = answer(looks.get(i), deadline - System.nanoTime());
      if (problem == null) {
        usable.add(path);
      } else {
        problems.add(path + " " + problem);
      }
    }
    return usable;
  }

  private Future<@Nullable String> look(Path path, Kind kind) {
    String what = kind + " " + path;
    FutureTask<@Nullable String> look =
        new FutureTask<>(
            () -> {
              try {
                return problem(path, kind);
              } finally {
                LOOKS.remove(what);
              }
            });
    Future<@Nullable String> before = LOOKS.putIfAbsent(what, look);
    if (before != null) {
      return before;
    }
    try {
      OwnLoader.thread(look, "s3e-look-at-" + path).start();
    } catch (OutOfMemoryError e) {
      LOOKS.remove(what);
      return CompletableFuture.failedFuture(e);
    }
    return look;
  }

  private static @Nullable String answer(Future<@Nullable String> look, long nanos) {
    try {
      return look.get(nanos, TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      return "has not answered within " + PROBE_LIMIT.toSeconds() + " s";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "was not waited for: the thread is interrupted";
    } catch (ExecutionException e) {
      return "cannot be looked at: " + e.getCause();
    }
  }

  /** Why a directory cannot be used; null if it can. */
  private @Nullable String problem(Path path, Kind kind) {
    if (!path.isAbsolute()) {
      return "is not absolute";
    }
    try {
      if (kind == Kind.HOME && !isInOneOfUser(path)) {
        return "is not in a directory of the user";
      }
      if (!Files.exists(path)) {
        switch (kind) {
          case NAMED -> {}
          case HADOOP -> Files.createDirectories(path);
          case XDG, HOME -> Files.createDirectories(path, FOR_USER);
        }
      }
    } catch (IOException | RuntimeException e) {
      return "cannot be made: " + e;
    }
    if (!Files.isDirectory(path)) {
      return Files.exists(path) ? "is not a directory" : "does not exist";
    }
    return Files.isWritable(path) ? null : "cannot be written";
  }

  private boolean isInOneOfUser(Path path) throws IOException {
    Path parent = path.getParent();
    return parent != null
        && Files.getOwner(parent).getName().equals(environment.property("user.name"));
  }
}
