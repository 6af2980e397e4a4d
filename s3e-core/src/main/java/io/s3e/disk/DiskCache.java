package io.s3e.disk;

import io.s3e.disk.DiskRead.Receiver;
import io.s3e.metrics.DiskMetrics;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;

/**
 * The cache on local disk of one engine: blocks are spread over its directories, each of which
 * reads, writes and fails on its own.
 *
 * <p>No method here waits for a disk: what is looked up is what memory knows, reads and writes are
 * done by threads of the directories, and a directory that fails is left alone. Any thread.
 */
public final class DiskCache implements AutoCloseable {
  /** {@link #believed} of a block whose file nobody here has seen: only the disk can tell. */
  public static final int UNKNOWN = Shelf.UNKNOWN;

  private final DiskCacheConfig config;
  private final List<CacheDirectory> directories;
  private final ScheduledExecutorService polls;
  private final ShadowCache shadow = new ShadowCache(SHADOW_ENTRIES);

  /** About 200 bytes each. */
  private static final int SHADOW_ENTRIES = 8192;

  private DiskCache(
      DiskCacheConfig config, List<CacheDirectory> directories, ScheduledExecutorService polls) {
    this.config = config;
    this.directories = List.copyOf(directories);
    this.polls = polls;
  }

  /**
   * Opens the directories of {@code config}, whose mode is not MEMORY.
   *
   * @throws IOException if a directory cannot be used, naming it and why
   */
  public static DiskCache open(DiskCacheConfig config, DiskMetrics metrics) throws IOException {
    return open(config, metrics, new NioDiskIo());
  }

  static DiskCache open(DiskCacheConfig config, DiskMetrics metrics, DiskIo io) throws IOException {
    ScheduledThreadPoolExecutor polls =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "s3e-disk-timer");
              thread.setDaemon(true);
              return thread;
            });
    polls.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    RateLimiter rate = new RateLimiter(config.writeBytesPerSecond(), System::nanoTime);
    List<CacheDirectory> opened = new ArrayList<>();
    boolean complete = false;
    try {
      for (Path directory : config.directories()) {
        opened.add(CacheDirectory.open(directory, config, metrics, io, rate, polls));
      }
      complete = true;
      return new DiskCache(config, opened, polls);
    } finally {
      if (!complete) {
        opened.forEach(CacheDirectory::close);
        polls.shutdownNow();
      }
    }
  }

  public DiskCacheConfig config() {
    return config;
  }

  /** Whether other processes may read what this engine writes, and the other way round. */
  public boolean isShared() {
    return config.scope() != DiskCacheConfig.Scope.PRIVATE;
  }

  /**
   * Chunks that are on disk as far as memory knows, a bit each; {@link #UNKNOWN} if only the disk
   * can tell; 0 while the directory is left alone.
   */
  public int believed(DiskBlockId id) {
    return directoryOf(id).believed(id);
  }

  /**
   * Reads the chunks {@code [first, end)} of a block, in order.
   *
   * @param mayClaim whether to tell other processes that this engine fetches what is not there
   * @return what the caller gives up when its patience ends
   */
  public DiskRead read(DiskBlockId id, int first, int end, boolean mayClaim, Receiver receiver) {
    return directoryOf(id).read(id, first, end, mayClaim, receiver);
  }

  /**
   * Offers a chunk to be written. Copies it, or drops it and counts that.
   *
   * @param bytes from position to limit, which do not change
   */
  public void offer(DiskBlockId id, int chunk, ByteBuffer bytes) {
    directoryOf(id).offer(id, chunk, bytes);
  }

  /**
   * A fetch that {@linkplain DiskRead.End#CLAIMED claimed} a block is over, and what it brought has
   * been offered: others need not wait for more of it.
   */
  public void fetched(DiskBlockId id) {
    directoryOf(id).fetched(id);
  }

  /** A reader came to bytes of a block, wherever they were found. */
  public void accessed(DiskBlockId id, int bytes) {
    shadow.access(id, bytes);
  }

  /** What caches of other sizes would have answered of the reads so far. */
  public ShadowCache.Estimate estimate() {
    long capacity = 0;
    for (CacheDirectory directory : directories) {
      capacity += directory.capacityBytes();
    }
    return shadow.estimate(capacity);
  }

  /** Bytes on disk, as far as known. */
  public long bytes() {
    long sum = 0;
    for (CacheDirectory directory : directories) {
      sum += directory.bytes();
    }
    return sum;
  }

  /** What {@code config}'s buffers take of the memory budget, in bytes. */
  public static long bufferBytes(DiskCacheConfig config) {
    return config.directories().size() * CacheDirectory.bufferBytes(config);
  }

  private CacheDirectory directoryOf(DiskBlockId id) {
    if (directories.size() == 1) {
      return directories.get(0);
    }
    // The same in every process: a string's hash is laid down.
    int hash = id.version().object().key().hashCode() * 31 + Long.hashCode(id.index());
    return directories.get(Math.floorMod(hash * 0x9E3779B1, directories.size()));
  }

  /**
   * Waits until everything that was offered is written or dropped.
   *
   * @return false if that took longer than {@code limit}
   */
  public boolean awaitWritten(Duration limit) throws InterruptedException {
    long deadline = System.nanoTime() + limit.toNanos();
    for (CacheDirectory directory : directories) {
      if (!directory.awaitWritten(Duration.ofNanos(deadline - System.nanoTime()))) {
        return false;
      }
    }
    return true;
  }

  /** Writes nothing more; gives up what hangs after a bounded time. */
  @Override
  public void close() {
    polls.shutdownNow();
    directories.forEach(CacheDirectory::close);
  }
}
