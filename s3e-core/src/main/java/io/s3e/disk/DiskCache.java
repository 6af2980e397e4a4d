package io.s3e.disk;

import io.s3e.disk.DiskRead.Receiver;
import io.s3e.metrics.DiskMetrics;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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

  private static final Logger LOG = LoggerFactory.getLogger(DiskCache.class);

  private final DiskCacheConfig config;
  private final List<CacheDirectory> directories;
  private final ScheduledExecutorService polls;
  private final ShadowCache shadow = new ShadowCache(SHADOW_ENTRIES);

  /** About 200 bytes each. */
  private static final int SHADOW_ENTRIES = 8192;

  /** The first read waits for this, once; a disk that needs longer is no help. */
  private static final long OPEN_MILLIS = 2_000;

  /** A thread that hangs takes 1 s each, and they are ended side by side. */
  private static final long CLOSE_MILLIS = 6_000;

  private DiskCache(
      DiskCacheConfig config, List<CacheDirectory> directories, ScheduledExecutorService polls) {
    this.config = config;
    this.directories = List.copyOf(directories);
    this.polls = polls;
  }

  /**
   * Opens the directories of {@code config}, whose mode is not MEMORY, each within {@value
   * #OPEN_MILLIS} ms. One that fails, hangs or is refused is left out, with a warning.
   *
   * @throws IOException if none is left, naming each and why
   */
  public static DiskCache open(DiskCacheConfig config, DiskMetrics metrics) throws IOException {
    return open(config, metrics, new NioDiskIo());
  }

  static DiskCache open(DiskCacheConfig config, DiskMetrics metrics, DiskIo io) throws IOException {
    ScheduledThreadPoolExecutor polls =
        new ScheduledThreadPoolExecutor(1, task -> Background.daemon("s3e-disk-timer", task));
    polls.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    RateLimiter rate = new RateLimiter(config.writeBytesPerSecond(), System::nanoTime);
    // All at once: the slowest tells how long it takes, not their number.
    List<Opening> openings =
        config.directories().stream()
            .map(
                directory ->
                    new Opening(
                        directory,
                        () -> CacheDirectory.open(directory, config, metrics, io, rate, polls)))
            .toList();
    List<CacheDirectory> opened = new ArrayList<>();
    List<String> problems = new ArrayList<>();
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(OPEN_MILLIS);
    boolean complete = false;
    try {
      for (Opening opening : openings) {
        try {
          opened.add(opening.await(deadline));
        } catch (IOException e) {
          LOG.debug("A directory of the cache cannot be opened", e);
          problems.add(e.getMessage());
        }
      }
      if (opened.isEmpty()) {
        throw new IOException("no directory can be used: " + String.join("; ", problems));
      }
      if (!problems.isEmpty()) {
        LOG.warn("Nothing is cached in {}", String.join("; ", problems));
      }
      complete = true;
      return new DiskCache(config, opened, polls);
    } finally {
      if (!complete) {
        openings.forEach(Opening::abandon);
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
   * @return whether it is on its way to disk
   */
  public boolean offer(DiskBlockId id, int chunk, ByteBuffer bytes) {
    return directoryOf(id).offer(id, chunk, bytes);
  }

  /**
   * Has something offered by a thread of the cache, when it has time: at least what {@code id}
   * stands for.
   *
   * @param offering offers what is still there then; does not block
   * @return false if too much waits, or the directory is left alone
   */
  public boolean offerLater(DiskBlockId id, Runnable offering) {
    return directoryOf(id).offerLater(offering);
  }

  /** Whether other processes have lately waited for what this engine had claimed. */
  public boolean isAwaited(DiskBlockId id) {
    return directoryOf(id).isAwaited();
  }

  /** Whether a chunk is on its way to disk. */
  public boolean isPending(DiskBlockId id, int chunk) {
    return directoryOf(id).isPending(id, chunk);
  }

  /**
   * A fetch that {@linkplain DiskRead.End#CLAIMED claimed} a block is over, and what it brought has
   * been offered: others need not wait for more of it.
   */
  public void claimEnded(DiskBlockId id) {
    directoryOf(id).claimEnded(id);
  }

  /** A reader came to bytes of a block, wherever they were found. */
  public void accessed(DiskBlockId id, int bytes) {
    shadow.access(id, bytes);
  }

  /** What caches of other sizes would have answered of the reads so far. */
  public ShadowCache.Estimate estimate() {
    return shadow.estimate(capacityBytes());
  }

  /** The most that may be on disk, over all directories, in bytes. */
  public long capacityBytes() {
    long sum = 0;
    for (CacheDirectory directory : directories) {
      sum += directory.capacityBytes();
    }
    return sum;
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

  /** Ends all directories side by side; leaves what hangs behind after a bounded time. */
  @Override
  public void close() {
    polls.shutdownNow();
    List<Thread> closing =
        directories.stream()
            .map(directory -> Background.start("s3e-disk-close", directory::close))
            .toList();
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CLOSE_MILLIS);
    for (Thread each : closing) {
      long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      boolean unused = Background.await(each, left);
    }
  }
}
