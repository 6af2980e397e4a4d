// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import io.s3e.bench.plain.LocalCopies;
import io.s3e.bench.plain.PageCache;
import io.s3e.bench.plain.PlainFileSystem;
import io.s3e.bench.workload.WorkloadKind;
import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where caches on disk are during a comparison, and the plain copies of objects that they are
 * measured against. Every run begins with a cache that has nothing of what it reads, in every
 * scope: an empty one of its own, or, where the objects have names that nobody has read, the one
 * that the engine has as long as its JVM, as an application keeps its cache: another one would end
 * S3E's engine, and each run would pay for making it. Unless the user said where the cache is: that
 * one stays as it is, from run to run, and the copies go beside it, for both must be on the same
 * disk. One thread.
 */
final class LocalDisk implements AutoCloseable {

  /** Hadoop key of the directories of S3E's cache. */
  static final String CACHE_DIRECTORIES = "fs.s3a.s3e.cache.dirs";

  private static final Logger LOG = LoggerFactory.getLogger(LocalDisk.class);

  private final JobOptions options;
  private final Path parent;
  private @Nullable LocalCopies copies;

  /** The cache of the run that is under way. */
  private @Nullable Path fresh;

  /** Caches of engines whose JVMs live. */
  private final Map<Engine, Path> kept = new HashMap<>();

  LocalDisk(JobOptions options, RunDirectory directory) {
    this.options = options;
    this.parent = directory.cache();
  }

  /**
   * Makes the place of one run.
   *
   * @param isUnread whether no run before it has read objects of these names
   * @return Hadoop configuration entries of this run alone
   */
  Map<String, String> begin(
      Engine engine, WorkloadKind workload, Target.Subject subject, boolean isUnread)
      throws IOException {
    if (engine.isFile()) {
      return Map.of(PlainFileSystem.DIRECTORY, copy(engine, workload, subject).toString());
    }
    if (isKeptByUser(engine, workload)) {
      return Map.of();
    }
    Path made = kept.get(engine);
    if (made == null) {
      made = Files.createTempDirectory(parent, "cache-");
      if (isUnread) {
        kept.put(engine, made);
      }
    }
    fresh = made;
    return Map.of(CACHE_DIRECTORIES, made.toAbsolutePath().toString());
  }

  /** Removes what the run has left in a cache of its own. */
  void end() throws IOException {
    Path made = fresh;
    fresh = null;
    if (made != null && !kept.containsValue(made)) {
      delete(made);
    }
  }

  /** Removes the cache of an engine whose JVM has ended. */
  void end(Engine engine) throws IOException {
    Path made = kept.remove(engine);
    if (made != null) {
      delete(made);
    }
  }

  private static void delete(Path made) throws IOException {
    try {
      RunDirectory.delete(made);
    } catch (DirectoryNotEmptyException stillWrittenTo) {
      // By what a failed run left behind. No other run uses it, and the job's end removes it.
      LOG.debug("{} stays for now", made, stillWrittenTo);
    }
  }

  /** Whether later runs are to find in the cache what earlier ones have read. */
  boolean isKeptByUser(Engine engine, WorkloadKind workload) {
    return told(engine, workload) != null;
  }

  /** The first directory that the user named; null if none. */
  private @Nullable Path told(Engine engine, WorkloadKind workload) {
    String directories = engine.settings(workload).get(CACHE_DIRECTORIES);
    if (directories == null) {
      directories = options.hadoop().get(CACHE_DIRECTORIES);
    }
    return directories == null ? null : Path.of(directories.split(",", 2)[0].trim());
  }

  private Path copy(Engine engine, WorkloadKind workload, Target.Subject subject)
      throws IOException {
    String reference = subject.reference();
    if (reference == null) {
      throw new IOException("Nobody has a local copy of what " + workload + " reads");
    }
    LocalCopies made = copies;
    if (made == null) {
      Path disk = told(engine, workload);
      Path beside = disk == null ? parent : Files.createDirectories(disk);
      made = new LocalCopies(Files.createTempDirectory(beside, "plain-copies-"));
      copies = made;
    }
    made.add(subject.objects(), Path.of(reference));
    return made.directory();
  }

  /**
   * Makes the next reads of what an engine has on disk come from the device.
   *
   * @param processes ids of the JVMs that read
   */
  void dropPageCache(Engine engine, WorkloadKind workload, List<Long> processes)
      throws IOException, InterruptedException {
    Path cache = fresh == null ? told(engine, workload) : fresh;
    Path read = engine.isFile() ? (copies == null ? null : copies.directory()) : cache;
    if (read != null) {
      PageCache.drop(read, processes);
    }
  }

  @Override
  public void close() throws IOException {
    if (copies != null) {
      RunDirectory.delete(copies.directory());
    }
  }
}
