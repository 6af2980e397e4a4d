// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import io.s3e.metrics.DiskMetrics;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The cache on local disk of one engine: each object is in one of its directories, and each
 * directory reads, writes and fails on its own.
 *
 * <p>No method here waits for a disk: what is looked up is what memory knows, reads and writes are
 * done by threads of the directories, and a directory that fails is left alone. Any thread.
 */
public final class DiskCache implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DiskCache.class);

  private final List<RegionStore> directories;
  private final DiskCacheConfig config;

  /** What came from S3, to any tenant. */
  public final FetchHistory history = new FetchHistory();

  /** A directory that has failed is left alone for so long at first. */
  private static final Duration BREAKER_PAUSE = Duration.ofSeconds(5);

  /** For so long the threads of all directories are waited for. */
  private static final long CLOSE_MILLIS = 1_000;

  private DiskCache(List<RegionStore> directories, DiskCacheConfig config) {
    this.directories = directories;
    this.config = config;
  }

  /**
   * Opens the directories of {@code config}, whose mode is not MEMORY. Takes as long as the disks
   * do, beside reads that go to S3 meanwhile. A directory that fails or is refused is left out,
   * with a warning.
   *
   * @param mostWaitingBytes the most that waits in memory to be written, in bytes
   * @throws IOException if none is left, naming each and why
   */
  public static DiskCache open(DiskCacheConfig config, DiskMetrics metrics, long mostWaitingBytes)
      throws IOException {
    return open(config, metrics, mostWaitingBytes, new DiskIo(), BREAKER_PAUSE);
  }

  static DiskCache open(
      DiskCacheConfig config,
      DiskMetrics metrics,
      long mostWaitingBytes,
      DiskIo io,
      Duration breakerPause)
      throws IOException {
    long mostOfEach = mostWaitingBytes / config.directories().size();
    RecentChunks recent = new RecentChunks();
    List<RegionStore> opened = new ArrayList<>();
    List<String> problems = new ArrayList<>();
    List<Path> used = new ArrayList<>();
    for (Path each : config.directories()) {
      try {
        opened.add(new RegionStore(each, config, recent, metrics, io, breakerPause, mostOfEach));
        used.add(each);
      } catch (IOException e) {
        LOG.debug("A directory of the cache cannot be opened", e);
        boolean isRefusal = e instanceof RefusedDirectoryException;
        problems.add(each + ": " + (isRefusal ? e.getMessage() : e));
      } catch (RuntimeException | Error e) {
        new DiskCache(opened, config).close();
        throw e;
      }
    }
    if (opened.isEmpty()) {
      throw new IOException("no directory can be used: " + String.join("; ", problems));
    }
    if (!problems.isEmpty()) {
      LOG.warn("Nothing is cached in {}", String.join("; ", problems));
    }
    boolean isShared = opened.stream().anyMatch(directory -> directory.isShared);
    DiskCacheConfig.Scope scope = isShared ? config.scope() : DiskCacheConfig.Scope.PRIVATE;
    return new DiskCache(opened, config.toBuilder().directories(used).scope(scope).build());
  }

  /** As it was opened: the directories that are used, and scope PRIVATE if none is shared. */
  public DiskCacheConfig config() {
    return config;
  }

  /** Whether other processes may read what this engine writes, and the other way round. */
  public boolean isShared() {
    return config.scope() != DiskCacheConfig.Scope.PRIVATE;
  }

  /**
   * How many of the chunks are on disk, from the first on and without a gap, as far as memory
   * knows; 0 while their directory is left alone.
   */
  public int look(ChunkRange wanted) {
    return directoryOf(wanted.object()).look(wanted);
  }

  /** Whether nothing has ever been on disk, as far as memory knows. */
  public boolean isEmpty() {
    boolean isEmpty = true;
    for (RegionStore directory : directories) {
      isEmpty &= directory.index.isEmpty();
    }
    return isEmpty;
  }

  /**
   * Begins to read bytes for a reader.
   *
   * @param present on disk as far as memory knows: the chunks of the bytes, and up to a batch
   *     behind them that the reader will want next
   * @param position offset in the object of the first byte, which is in the first chunk
   * @param target takes the bytes from its position to its limit, which stay as they are, until
   *     {@link DiskRead#end}
   */
  public DiskRead read(ChunkRange present, long position, ByteBuffer target) {
    Readers readers = directoryOf(present.object()).readers;
    DiskRead read = new DiskRead(readers, present, position, target);
    read.begin();
    return read;
  }

  /** Offers bytes to be written: all end, sooner or later. */
  public void offer(WriteBack offered) {
    directoryOf(offered.object()).appender.offer(offered);
  }

  /** Bytes on disk, as far as known. */
  public long bytes() {
    return directories.stream().mapToLong(directory -> directory.regions.bytes()).sum();
  }

  /** The most that the cache ever takes on disk, in bytes. */
  public long capacityBytes() {
    return directories.stream().mapToLong(directory -> directory.regions.capacityBytes()).sum();
  }

  /** Bytes that {@code config}'s buffers take of the memory budget. */
  public static long bufferBytes(DiskCacheConfig config) {
    long ofReaders = Readers.THREADS * ChunkReader.bufferBytes(config.key() != null);
    return RecentChunks.BYTES + config.directories().size() * (ofReaders + Appender.STAGE_MEMORY);
  }

  /**
   * The first that there is in an order of the object's own: the same in every process that knows
   * the directories by the same paths, but for the objects of one that a process has left out.
   */
  private RegionStore directoryOf(StoredObject object) {
    return Collections.max(
        directories, Comparator.comparingLong(directory -> object.mixedWith(directory.rank)));
  }

  /** Ends all directories side by side; leaves what hangs behind after a bounded time. */
  @Override
  public void close() {
    directories.forEach(RegionStore::stop);
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CLOSE_MILLIS);
    directories.forEach(directory -> directory.awaitEnd(deadline));
  }
}
