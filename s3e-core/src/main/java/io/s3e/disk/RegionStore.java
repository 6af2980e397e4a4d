// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import io.s3e.disk.DiskCacheConfig.Scope;
import io.s3e.metrics.DiskMetrics;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One directory of the cache: its regions, the index of what is in them, the {@link Readers} and
 * the {@link Appender} that work on it, and whether it is to be used.
 *
 * <p><b>Two breakers.</b> For reading and for writing: a full or read-only disk still answers.
 */
final class RegionStore {
  private static final Logger LOG = LoggerFactory.getLogger(RegionStore.class);

  /** By what objects rank this directory among others: the same in every process. */
  final int rank;

  final boolean isShared;
  final ChunkIndex index = new ChunkIndex();
  final Regions regions;
  private final Breaker breaker;
  final Appender appender;
  final Readers readers;

  /**
   * Opens the cache in one of the directories, and says why if it cannot. Touches the disk, for as
   * long as that takes; what others have written is read afterwards, beside the reads.
   */
  RegionStore(
      Path named,
      DiskCacheConfig config,
      RecentChunks recent,
      DiskMetrics metrics,
      DiskIo io,
      Duration breakerPause,
      long mostWaitingBytes)
      throws IOException {
    Path directory = DirectoryGuard.realDirectory(named);
    Regions.Maker maker = maker(io, directory, config);
    byte[] path = directory.toString().getBytes(StandardCharsets.UTF_8);
    // Not of String.hashCode: two paths that have the same one would be one directory.
    this.rank = ByteBuffer.wrap(StoredObject.hashOf(path)).getInt();
    this.isShared = maker instanceof SharedInstance;
    this.regions = new Regions(maker, index, new DiskSpace(directory), metrics);
    String what = " the cache in " + directory;
    this.breaker = new Breaker(breakerPause, System::nanoTime, metrics, "Reading from" + what);
    this.readers =
        new Readers(
            index, recent, metrics, breaker, config.key() != null, config.readDeadline().toNanos());
    Breaker writing = new Breaker(breakerPause, System::nanoTime, metrics, "Writing to" + what);
    this.appender = new Appender(regions, index, writing, metrics, mostWaitingBytes);
    appender.start();
  }

  private static Regions.Maker maker(DiskIo io, Path directory, DiskCacheConfig config)
      throws IOException {
    long capacity = config.capacityBytes(io.usableBytes(directory));
    if (capacity < DiskCacheConfig.LEAST_CAPACITY_BYTES
        && (config.scope() == Scope.PRIVATE || !SharedInstance.isLaidOut(directory, config))) {
      String why = config.capacityBytes() == 0 ? "5 % of what is free" : "its capacity as set";
      throw new RefusedDirectoryException(
          directory,
          "would hold " + capacity + " bytes, " + why,
          DiskCacheConfig.LEAST_CAPACITY_BYTES + " or more");
    }
    CacheKey key = config.key();
    if (config.scope() != Scope.PRIVATE && (key != null || isTrusted(io, directory))) {
      return SharedInstance.enter(io, directory, config, capacity);
    }
    long most = config.indexedBytes() / StoredObject.CHUNK_BYTES;
    long indexed = Math.min(capacity, most * StoredObject.CHUNK_BYTES);
    if (indexed < capacity) {
      LOG.info(
          "The cache in {} holds {} bytes: a larger heap could index more", directory, indexed);
    }
    Layout layout = Layout.of(indexed, Region.USUAL_COUNT, key).inFewer(config.mostRegions(io));
    return new PrivateRegions(io, directory, key, layout, most);
  }

  /** Whether nobody else can put another cache in the place of one there. */
  private static boolean isTrusted(DiskIo io, Path directory) throws IOException {
    DirectoryGuard guard;
    try {
      guard = DirectoryGuard.shared(directory);
    } catch (NoSuchFileException e) {
      // Another process that shares nothing either has just deleted it.
      return false;
    }
    RefusedDirectoryException doubt = guard.doubt();
    if (doubt != null) {
      LOG.warn(
          "The cache in {} is of this process alone; encryption would let it be shared: {}",
          directory,
          doubt.getMessage());
      try {
        io.delete(guard.top());
      } catch (IOException e) {
        LOG.debug("{} is not empty", guard.top(), e);
      }
    }
    return doubt == null;
  }

  int look(ChunkRange wanted) {
    boolean mayRead = breaker.allows() || breaker.isDue();
    return mayRead ? index.presentFrom(wanted.object(), wanted.first(), wanted.end()) : 0;
  }

  /** Nothing more is begun. The threads end with what is under way, the writing one last. */
  void stop() {
    appender.stop();
    readers.stop();
  }

  /** Waits until then for what is under way; what hangs is left to its daemon threads. */
  void awaitEnd(long deadlineNanos) {
    readers.awaitEnd(deadlineNanos);
    appender.awaitEnd(deadlineNanos);
  }
}
