package io.s3e.disk;

import io.s3e.disk.DiskCacheConfig.Scope;
import io.s3e.disk.DiskRead.Receiver;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.DiskMetrics.Counter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One directory of the cache: its files, what is known of them, the threads that work on it, and
 * whether it is to be trusted.
 *
 * <p><b>Threads.</b> A few {@code s3e-disk} threads read, delete and let claims go; the {@link
 * BlockWriter}'s writes. Only these touch the disk, so what hangs there holds them and nobody else:
 * a read that hangs is given up by its deadline, and after some of those the directory is left
 * alone. When the pause is over the next read is the probe; if it does not come through in time
 * either, because it stands behind what hangs, the pause is doubled.
 *
 * <p><b>Two breakers.</b> One here for reading, one of the writer: a disk that is full or mounted
 * read-only still answers, and claims and deletions are writes.
 */
final class CacheDirectory implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CacheDirectory.class);

  /** Enough for a disk to have a queue; from the page cache two keep a processor each busy. */
  private static final int READERS = 4;

  /** Of all directories. */
  private static final long QUEUE_BYTES = 4L << 20;

  /** Twice the time that the janitor of another process takes to see a newcomer. */
  private static final Duration GRANT_PATIENCE = Duration.ofMillis(250);

  private static final long CLOSE_MILLIS = 500;
  private static final long IDLE_SECONDS = 10;

  private final CacheRoot root;
  private final long capacityBytes;
  private final DiskMetrics metrics;
  private final BlockFiles files;
  private final CacheSpace space;
  private final Shelf shelf;
  private final @Nullable Claims claims;
  private final HeldClaims held = new HeldClaims();
  private final Breaker breaker;
  private final BlockWriter writer;
  private final ThreadPoolExecutor readers;
  private final ScheduledExecutorService polls;

  /** Scratch of threads that are not reading just now: one for each thread that there may be. */
  private final Queue<ByteBuffer> scratch = new ConcurrentLinkedQueue<>();

  private CacheDirectory(
      CacheRoot root,
      DiskCacheConfig config,
      DiskMetrics metrics,
      DiskIo io,
      RateLimiter rate,
      ScheduledExecutorService polls) {
    this.root = root;
    this.capacityBytes = config.capacityBytes();
    this.metrics = metrics;
    this.polls = polls;
    String name = root.instance().toString();
    boolean shared = config.scope() != Scope.PRIVATE;
    this.files = new BlockFiles(io, root.instance(), root.ownerId(), config.key());
    this.space = new CacheSpace(io, root.instance(), config);
    this.shelf =
        shared
            ? new SharedShelf(io, root, config, metrics, space)
            : new PrivateShelf(0, metrics, this::delete);
    this.claims = shared ? new Claims(io, root) : null;
    this.breaker =
        new Breaker(config.breakerPause(), System::nanoTime, metrics, "Reading from " + name);
    this.writer =
        new BlockWriter(
            new BlockWriter.Target(files, shelf, space, name),
            config,
            queueBytes(config),
            rate,
            metrics,
            this::written);
    for (int i = 0; i < READERS; i++) {
      scratch.add(ByteBuffer.allocateDirect(BlockFiles.READ_SCRATCH_BYTES));
    }
    AtomicInteger threads = new AtomicInteger();
    this.readers =
        new ThreadPoolExecutor(
            READERS,
            READERS,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> Background.daemon("s3e-disk-" + threads.incrementAndGet(), task));
    readers.allowCoreThreadTimeOut(true);
  }

  /**
   * Opens, and makes if need be, S3E's own directory below {@code directory}. Touches the disk, and
   * takes as long as that does.
   *
   * @param polls runs what is to be looked at again
   * @throws IOException if it cannot be used or must not be trusted, saying why
   */
  static CacheDirectory open(
      Path directory,
      DiskCacheConfig config,
      DiskMetrics metrics,
      DiskIo io,
      RateLimiter rate,
      ScheduledExecutorService polls)
      throws IOException {
    DiskCacheConfig applied =
        config.toBuilder().capacityBytes(capacityOf(directory, config)).build();
    CacheDirectory opened =
        new CacheDirectory(CacheRoot.open(directory, applied), applied, metrics, io, rate, polls);
    opened.writer.start();
    if (opened.shelf instanceof SharedShelf shared) {
      shared.awaitGrant(GRANT_PATIENCE);
    }
    return opened;
  }

  private static long capacityOf(Path directory, DiskCacheConfig config) throws IOException {
    Path real = DirectoryGuard.realDirectory(directory);
    long usable = real.toFile().getUsableSpace();
    long capacity =
        config.capacityBytes() == 0 ? DiskSpace.defaultCapacity(usable) : config.capacityBytes();
    if (capacity < DiskCacheConfig.MIN_CAPACITY_BYTES) {
      String why =
          config.capacityBytes() == 0
              ? "5 % of the " + usable + " that are free"
              : "its capacity as set";
      throw new RefusedDirectoryException(
          real.toString(),
          "would hold " + capacity + " bytes, " + why,
          DiskCacheConfig.MIN_CAPACITY_BYTES + " or more",
          null);
    }
    return capacity;
  }

  private static long queueBytes(DiskCacheConfig config) {
    return Math.max(DiskBlockId.BLOCK_BYTES, QUEUE_BYTES / config.directories().size());
  }

  /** Memory that one directory's buffers take, in bytes. */
  static long bufferBytes(DiskCacheConfig config) {
    return queueBytes(config) + (READERS + 1L) * BlockFiles.READ_SCRATCH_BYTES;
  }

  /** As {@link DiskCache#believed}. */
  int believed(DiskBlockId id) {
    return breaker.allows() || breaker.isDue() ? shelf.believed(id) : 0;
  }

  /** As {@link DiskCache#read}. */
  DiskRead read(DiskBlockId id, int first, int end, boolean mayClaim, Receiver receiver) {
    FileRead read = new FileRead(this, id, first, end, mayClaim && claims != null, receiver);
    // While the directory is left alone only a probe passes.
    if (!(breaker.allows() || breaker.tryProbe()) || !execute(read)) {
      boolean unused = read.end(DiskRead.End.MISS);
    }
    return read;
  }

  /** Runs a task on a reading thread; false if the cache is closed. */
  boolean execute(Runnable task) {
    try {
      readers.execute(task);
      return true;
    } catch (RejectedExecutionException e) {
      return false;
    }
  }

  /** Runs a task on a reading thread after so many ms; false if the cache is closed. */
  boolean executeLater(Runnable task, long millis) {
    try {
      return !polls.schedule(() -> execute(task), millis, TimeUnit.MILLISECONDS).isCancelled();
    } catch (RejectedExecutionException e) {
      return false;
    }
  }

  DiskMetrics metrics() {
    return metrics;
  }

  Shelf shelf() {
    return shelf;
  }

  /** Reads what the file has of {@code [first, end)}, on the calling thread. */
  void readFile(DiskBlockId id, int first, int end, ChunkSink sink) {
    ByteBuffer buffer = scratch.remove();
    try {
      int unused = files.read(id, first, end, buffer, sink);
      breaker.success();
    } catch (NoSuchFileException e) {
      shelf.gone(id);
      breaker.success();
    } catch (InvalidBlockException e) {
      LOG.debug("{} dropped", id, e);
      metrics.count(Counter.CORRUPTIONS);
      shelf.gone(id);
      breaker.success();
    } catch (IOException e) {
      LOG.debug("Read of {} failed", id, e);
      metrics.count(Counter.READ_ERRORS);
      breaker.failure(Breaker.Cause.of(e));
      // What is not on the shelf must not be on the disk: nobody would ever make room of it.
      shelf.gone(id);
      delete(id);
    } finally {
      scratch.add(buffer);
    }
  }

  /**
   * A read passed its deadline.
   *
   * @param begun whether the disk has had it, and not the queue alone
   */
  void timedOut(boolean begun) {
    metrics.count(Counter.TIMEOUTS);
    // A probe that still stands in the queue stands behind what hangs.
    if (begun || !breaker.allows()) {
      breaker.failure(Breaker.Cause.SLOW);
    }
  }

  /** Whose a block is to fetch. */
  enum Claimant {
    /** This engine's: what others do not have, it fetches and writes. */
    THIS_ENGINE,
    /** Another's, who will write it. */
    ANOTHER,
    /** Nobody's, since nothing could be written, or nobody can tell. */
    NOBODY
  }

  /** Tries to become the engine that fetches a block. */
  Claimant claim(DiskBlockId id) {
    if (claims == null || !writer.mayWrite()) {
      return Claimant.NOBODY;
    }
    try {
      if (held.join(id)) {
        return Claimant.THIS_ENGINE;
      }
      Claim claim = claims.tryClaim(id);
      if (claim == null) {
        // Another read of this engine may have been quicker.
        return held.join(id) ? Claimant.THIS_ENGINE : Claimant.ANOTHER;
      }
      if (!held.hold(id, claim)) {
        claims.release(claim);
      }
      return Claimant.THIS_ENGINE;
    } catch (IOException e) {
      writer.failed("claim of " + id, e);
      return Claimant.NOBODY;
    }
  }

  /** Tells the process that fetches a block that somebody waits for it. */
  void markAwaited(DiskBlockId id) {
    if (claims != null) {
      claims.markAwaited(id);
    }
  }

  /** As {@link DiskCache#isAwaited}. */
  boolean isAwaited() {
    return claims != null && claims.isAwaited();
  }

  /** As {@link DiskCache#claimEnded}. */
  void claimEnded(DiskBlockId id) {
    if (held.leave(id) && !writer.flush(id)) {
      written(id);
    }
  }

  /** Nothing of a block waits to be written any more. */
  private void written(DiskBlockId id) {
    Claim claim = held.takeIdle(id);
    if (claim != null) {
      boolean unused = execute(() -> release(claim));
    }
  }

  private void release(Claim claim) {
    if (claims != null) {
      claims.release(claim);
    }
  }

  /** As {@link DiskCache#offer}. */
  boolean offer(DiskBlockId id, int chunk, ByteBuffer bytes) {
    return writer.offer(id, chunk, bytes);
  }

  /** As {@link DiskCache#offerLater}. */
  boolean offerLater(Runnable offering) {
    return writer.later(offering);
  }

  /** As {@link DiskCache#isPending}. */
  boolean isPending(DiskBlockId id, int chunk) {
    return writer.isPending(id, chunk);
  }

  /** As {@link DiskCache#awaitWritten}. */
  boolean awaitWritten(Duration limit) throws InterruptedException {
    return writer.awaitIdle(limit);
  }

  /** Deletes the file of a block that the shelf of a private cache has no place for. */
  private void delete(DiskBlockId id) {
    if (shelf instanceof PrivateShelf) {
      boolean unused = execute(() -> writer.delete(id));
    }
  }

  long bytes() {
    return shelf.bytes();
  }

  /** The most that it may hold, as set or as chosen when it was opened. */
  long capacityBytes() {
    return capacityBytes;
  }

  /** Waits a bounded time for what is under way; what hangs is left to its daemon threads. */
  @Override
  public void close() {
    writer.close();
    held.takeAll().forEach(claim -> execute(() -> release(claim)));
    readers.shutdown();
    boolean interrupted = Thread.interrupted();
    try {
      if (!readers.awaitTermination(CLOSE_MILLIS, TimeUnit.MILLISECONDS)) {
        LOG.warn("Reading from {} hangs; left behind", root.instance());
        readers.shutdownNow();
      }
    } catch (InterruptedException e) {
      readers.shutdownNow();
      interrupted = true;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    try {
      shelf.close();
    } finally {
      root.close();
    }
  }
}
