package io.s3e.hadoop.cache;

import io.s3e.disk.DiskCacheConfig.Scope;
import io.s3e.hadoop.conf.ConfigValues;
import io.s3e.hadoop.conf.DiskCacheKeys;
import io.s3e.hadoop.conf.ProcessEnvironment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.s3a.Constants;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Chooses where the cache's files stand. A directory that cannot be used is left out with a WARN
 * line that says why; nothing here fails. A disk may hang, so directories are looked at by threads
 * of their own and left out if they do not answer in time.
 */
final class CacheDirectories {
  private static final Logger LOG = LoggerFactory.getLogger(CacheDirectories.class);
  private static final Duration PROBE_LIMIT = Duration.ofSeconds(2);

  private final Configuration conf;
  private final ProcessEnvironment environment;

  /**
   * @param conf with per-bucket overrides applied
   */
  CacheDirectories(Configuration conf, ProcessEnvironment environment) {
    this.conf = conf;
    this.environment = environment;
  }

  /**
   * Where directories were named.
   *
   * @param name what to call the place in messages
   * @param paths as they stand there
   * @param made whether what is missing is to be made: Hadoop makes such directories itself
   */
  private record Source(String name, List<Path> paths, boolean made) {}

  /**
   * Those that can be used.
   *
   * @param explicit what the user chose; empty for the default
   * @return empty if there is none, which one WARN line tells
   */
  List<Path> choose(List<Path> explicit, Scope scope) {
    Source source =
        explicit.isEmpty()
            ? byDefault(scope)
            : new Source(DiskCacheKeys.DIRECTORIES.name(), explicit, false);
    List<String> problems = new ArrayList<>();
    List<Path> usable = usable(source, problems);
    if (!usable.isEmpty() && !problems.isEmpty()) {
      LOG.warn("Left out of {} for the cache on disk: {}", source.name(), problems);
    }
    if (usable.isEmpty()) {
      LOG.warn(
          "No cache on disk, in memory only: {} has no directory that can be used {}; set {} to"
              + " absolute paths of directories that exist and can be written",
          source.name(),
          problems,
          DiskCacheKeys.DIRECTORIES.name());
    }
    return usable;
  }

  private Source byDefault(Scope scope) {
    boolean lasting = scope == Scope.HOST;
    List<Source> sources =
        List.of(
            // YARN deletes these with their application, so they are not for what outlives it.
            source("LOCAL_DIRS", lasting ? "" : environment.variable("LOCAL_DIRS"), false),
            source("SPARK_LOCAL_DIRS", environment.variable("SPARK_LOCAL_DIRS"), false),
            source("spark.local.dir", conf.getTrimmed("spark.local.dir", ""), false),
            source("spark.local.dir", environment.property("spark.local.dir"), false),
            lasting ? hadoop("hadoop.tmp.dir") : hadoop(Constants.BUFFER_DIR),
            source("java.io.tmpdir", environment.property("java.io.tmpdir"), false));
    return sources.stream()
        .filter(each -> !each.paths().isEmpty())
        .findFirst()
        .orElse(new Source("java.io.tmpdir", List.of(), false));
  }

  private Source hadoop(String key) {
    return source(key, conf.getTrimmed(key, ""), true);
  }

  private static Source source(String name, String text, boolean made) {
    try {
      return new Source(name, ConfigValues.paths(text), made);
    } catch (IllegalArgumentException e) {
      LOG.warn("Not used for the cache on disk: {} = \"{}\" is no list of paths", name, text);
      return new Source(name, List.of(), made);
    }
  }

  private static List<Path> usable(Source source, List<String> problems) {
    List<CompletableFuture<@Nullable String>> looks =
        source.paths().stream().map(path -> look(path, source.made())).toList();
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

  private static CompletableFuture<@Nullable String> look(Path path, boolean made) {
    CompletableFuture<@Nullable String> look = new CompletableFuture<>();
    Thread thread = new Thread(() -> look.complete(problem(path, made)), "s3e-look-at-" + path);
    thread.setDaemon(true);
    thread.start();
    return look;
  }

  private static @Nullable String answer(CompletableFuture<@Nullable String> look, long nanos) {
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
  private static @Nullable String problem(Path path, boolean made) {
    if (!path.isAbsolute()) {
      return "is not absolute";
    }
    if (made && !Files.exists(path)) {
      try {
        Files.createDirectories(path);
      } catch (IOException e) {
        return "cannot be made: " + e;
      }
    }
    if (!Files.isDirectory(path)) {
      return Files.exists(path) ? "is not a directory" : "does not exist";
    }
    return Files.isWritable(path) ? null : "cannot be written";
  }
}
