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
 * <p><b>Threads.</b> A few {@code s3e-disk} threads read, delete and let claims go; one {@code
 * s3e-disk-writer} writes. Only these touch the disk, so what hangs there holds them and nobody
 * else: a read that hangs is given up by its deadline, and after some of those the directory is
 * left alone until a probe, which stands in the queue behind what hangs, comes through.
 *
 * <p><b>Two breakers.</b> A disk that is full or mounted read-only still answers: only writing
 * stops then.
 */
final class CacheDirectory implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CacheDirectory.class);

  /** Enough for a disk to have a queue; from the page cache two keep a processor each busy. */
  private static final int READERS = 4;

  private static final long WRITER_POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
  private static final long MEASURE_NANOS = TimeUnit.SECONDS.toNanos(30);

  /** Twice the time that the janitor of another process takes to see a newcomer. */
  private static final Duration GRANT_PATIENCE = Duration.ofMillis(250);

  private static final long CLOSE_MILLIS = 500;
  private static final long IDLE_SECONDS = 10;

  private final CacheRoot root;
  private final DiskIo io;
  private final DiskMetrics metrics;
  private final BlockFiles files;
  private final CacheSpace space;
  private final Shelf shelf;

  /** The shelf of a private cache, whose capacity is looked after here; null if shared. */
  private final @Nullable PrivateShelf table;

  private final @Nullable Claims claims;
  private final HeldClaims held = new HeldClaims();
  private final Breaker reading;
  private final Breaker writing;
  private final WriteQueue queue;
  private final ThreadPoolExecutor readers;
  private final ScheduledExecutorService polls;
  private final Thread writer;

  /** Scratch of threads that are not reading just now; never more of it than threads. */
  private final Queue<ByteBuffer> scratch = new ConcurrentLinkedQueue<>();

  private volatile boolean closed;

  private CacheDirectory(
      CacheRoot root,
      DiskCacheConfig config,
      DiskMetrics metrics,
      DiskIo io,
      RateLimiter rate,
      ScheduledExecutorService polls) {
    this.root = root;
    this.io = io;
    this.metrics = metrics;
    this.polls = polls;
    this.files = new BlockFiles(io, root.instance(), root.ownerId(), config.key());
    boolean shared = config.scope() != Scope.PRIVATE;
    this.space = new CacheSpace(io, root.instance(), config);
    this.table = shared ? null : new PrivateShelf(0, metrics, this::evict);
    this.shelf = table != null ? table : new SharedShelf(io, root, config, metrics, space);
    this.claims = shared ? new Claims(io, root) : null;
    this.reading = breaker(config, "Reading from " + root.instance());
    this.writing = breaker(config, "Writing to " + root.instance());
    this.queue =
        new WriteQueue(queueBytes(config), config.queueAge(), rate, metrics, System::nanoTime);
    AtomicInteger threads = new AtomicInteger();
    this.readers =
        new ThreadPoolExecutor(
            READERS,
            READERS,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> daemon(task, "s3e-disk-" + threads.incrementAndGet()));
    readers.allowCoreThreadTimeOut(true);
    this.writer = daemon(this::write, "s3e-disk-writer");
  }

  /**
   * Opens, and makes if need be, S3E's own directory below {@code directory}.
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
    CacheDirectory opened =
        new CacheDirectory(CacheRoot.open(directory, config), config, metrics, io, rate, polls);
    opened.writer.start();
    if (opened.shelf instanceof SharedShelf shared) {
      shared.awaitGrant(GRANT_PATIENCE);
    }
    return opened;
  }

  private Breaker breaker(DiskCacheConfig config, String what) {
    return new Breaker(config.breakerPause(), System::nanoTime, metrics, what);
  }

  private static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  private static long queueBytes(DiskCacheConfig config) {
    return Math.max(DiskBlockId.BLOCK_BYTES, config.queueBytes() / config.directories().size());
  }

  /** Memory that one directory's buffers take, in bytes. */
  static long bufferBytes(DiskCacheConfig config) {
    return queueBytes(config) + (READERS + 1L) * BlockFiles.READ_SCRATCH_BYTES;
  }

  /** As {@link DiskCache#believed}. */
  int believed(DiskBlockId id) {
    if (!reading.allows()) {
      if (reading.tryProbe()) {
        execute(this::probe);
      }
      return 0;
    }
    return shelf.believed(id);
  }

  private void probe() {
    try {
      long unused = io.usableBytes(root.blocks());
      reading.success();
    } catch (IOException e) {
      failedReading("probe of " + root.instance(), e);
    }
  }

  /** As {@link DiskCache#read}. */
  DiskRead read(DiskBlockId id, int first, int end, boolean mayClaim, Receiver receiver) {
    FileRead read = new FileRead(this, id, first, end, mayClaim && claims != null, receiver);
    if (!execute(read)) {
      read.end(DiskRead.End.MISS);
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
    ByteBuffer buffer = scratch.poll();
    if (buffer == null) {
      buffer = ByteBuffer.allocateDirect(BlockFiles.READ_SCRATCH_BYTES);
    }
    try {
      int unused = files.read(id, first, end, buffer, sink);
      reading.success();
    } catch (NoSuchFileException e) {
      shelf.gone(id);
      reading.success();
    } catch (InvalidBlockException e) {
      invalid(id, e);
    } catch (IOException e) {
      shelf.gone(id);
      failedReading("read of " + id, e);
    } finally {
      scratch.add(buffer);
    }
  }

  private void invalid(DiskBlockId id, InvalidBlockException cause) {
    LOG.debug("{} dropped", id, cause);
    metrics.count(Counter.CORRUPTIONS);
    shelf.gone(id);
  }

  void failedReading(String what, IOException cause) {
    LOG.debug("{} failed", what, cause);
    metrics.count(Counter.READ_ERRORS);
    reading.failure(Breaker.Cause.of(cause));
  }

  /** A read passed its deadline. */
  void timedOut() {
    metrics.count(Counter.TIMEOUTS);
    reading.failure(Breaker.Cause.SLOW);
  }

  /**
   * Tries to become the engine that fetches a block.
   *
   * @return false if another one is, who will write it
   */
  boolean claim(DiskBlockId id) throws IOException {
    if (claims == null || held.join(id)) {
      return true;
    }
    Claim claim = claims.tryClaim(id);
    if (claim == null) {
      // Another read of this engine may have been quicker.
      return held.join(id);
    }
    if (!held.hold(id, claim)) {
      claims.release(claim);
    }
    return true;
  }

  /** As {@link DiskCache#fetched}. */
  void fetched(DiskBlockId id) {
    if (held.leave(id) && !queue.flush(id)) {
      boolean unused = execute(() -> letGo(id));
    }
  }

  private void letGo(DiskBlockId id) {
    Claim claim = held.takeIdle(id);
    if (claim != null && claims != null) {
      claims.release(claim);
    }
  }

  /** As {@link DiskCache#offer}. */
  void offer(DiskBlockId id, int chunk, ByteBuffer bytes) {
    if (closed || !(writing.allows() || writing.tryProbe())) {
      return;
    }
    queue.offer(id, chunk, bytes);
  }

  /** As {@link DiskCache#awaitWritten}. */
  boolean awaitWritten(Duration limit) throws InterruptedException {
    return queue.awaitIdle(limit);
  }

  private void write() {
    ByteBuffer buffer = ByteBuffer.allocateDirect(BlockFiles.READ_SCRATCH_BYTES);
    long measured = 0;
    while (!closed) {
      try {
        if (table != null && (measured == 0 || System.nanoTime() - measured > MEASURE_NANOS)) {
          measured = System.nanoTime();
          measure(table);
        }
        PendingBlock block = queue.take(WRITER_POLL_NANOS);
        if (block != null) {
          write(block, buffer);
        }
      } catch (InterruptedException e) {
        // Only close interrupts.
        return;
      } catch (RuntimeException e) {
        LOG.warn("Writing into {} failed", root.instance(), e);
      }
    }
  }

  /** Fits a private cache into what the disk has left. */
  private void measure(PrivateShelf shelf) {
    try {
      shelf.setCapacity(space.refresh(shelf.bytes()));
    } catch (IOException e) {
      failedWriting("look at the space of " + root.instance(), e);
    }
  }

  void failedWriting(String what, IOException cause) {
    LOG.debug("{} failed", what, cause);
    metrics.count(Counter.WRITE_ERRORS);
    writing.failure(Breaker.Cause.of(cause));
  }

  private void write(PendingBlock block, ByteBuffer buffer) {
    DiskBlockId id = block.id();
    try {
      long bytes = BlockFiles.bytesOnDisk(id, block.mask());
      if ((table != null && !space.mayWrite()) || !shelf.hasRoomFor(bytes)) {
        metrics.add(Counter.DROPPED_SPACE_BYTES, block.bytes());
        return;
      }
      BlockFiles.Written written = files.write(id, block, buffer);
      if (written.mask() != 0) {
        metrics.count(Counter.WRITES);
        metrics.add(Counter.WRITTEN_BYTES, block.bytes());
        shelf.written(id, written.mask(), written.bytesOnDisk());
      }
      writing.success();
    } catch (InvalidBlockException e) {
      // What stood in its place; the disk itself is well.
      invalid(id, e);
    } catch (IOException e) {
      failedWriting("write of " + id, e);
    } finally {
      queue.done(block);
      letGo(id);
    }
  }

  /** The shelf has no place for a block any more. */
  private void evict(DiskBlockId id) {
    execute(
        () -> {
          try {
            // It may have been written again since.
            if (shelf.believed(id) == 0) {
              files.delete(id);
            }
          } catch (IOException e) {
            failedWriting("eviction of " + id, e);
          }
        });
  }

  long bytes() {
    return shelf.bytes();
  }

  long capacityBytes() {
    return space.capacity();
  }

  /** Waits a bounded time for what is under way; what hangs is left to its daemon threads. */
  @Override
  public void close() {
    closed = true;
    queue.close();
    writer.interrupt();
    readers.shutdownNow();
    try {
      writer.join(CLOSE_MILLIS);
      boolean ended = readers.awaitTermination(CLOSE_MILLIS, TimeUnit.MILLISECONDS);
      if (!ended || writer.isAlive()) {
        LOG.warn("{} hangs; left behind", root.instance());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    try {
      shelf.close();
    } finally {
      root.close();
    }
  }
}
