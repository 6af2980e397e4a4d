package io.s3e.disk;

import io.s3e.disk.DiskCacheConfig.Scope;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.DiskMetrics.Counter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One directory of the cache: its regions, the index of what is in them, the threads that work on
 * it, and whether it is to be used.
 *
 * <p><b>Threads.</b> A few {@code s3e-disk} threads read; the {@link Appender}'s writes. Only these
 * touch the disk, so what hangs there holds them and nobody else: a read that hangs is given up by
 * its deadline, and after some of those the directory is left alone. When the pause is over the
 * next read is the probe; if it does not come through in time either, because it stands behind what
 * hangs, the pause is doubled.
 *
 * <p><b>Two breakers.</b> One for reading, one for writing: a disk that is full or mounted
 * read-only still answers.
 */
final class RegionStore implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RegionStore.class);

  /** The smallest cache: {@link Region#USUAL_COUNT} regions of the smallest size. */
  static final long LEAST_CAPACITY_BYTES = Region.USUAL_COUNT * Region.LEAST_BYTES;

  /** Enough for a disk to have a queue; from the page cache two keep a processor each busy. */
  private static final int READERS = 4;

  /** So late at most, those who look at memory alone see what others have written. */
  private static final long FRESH_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private static final long CLOSE_MILLIS = 500;
  private static final long IDLE_SECONDS = 10;

  private final Path directory;
  private final boolean isShared;
  private final DiskMetrics metrics;
  private final ChunkIndex index;
  private final Regions regions;
  private final Breaker breaker;
  private final Breaker writing;
  private final Appender appender;
  private final ThreadPoolExecutor readers;

  /** When a thread was last asked to look at what others have written. */
  private final AtomicLong refreshAskedNanos = new AtomicLong(System.nanoTime());

  private final long deadlineNanos;

  /** Readers of threads that are not reading just now: one for each thread that there may be. */
  private final Queue<ChunkReader> idle = new ConcurrentLinkedQueue<>();

  private final RecentChunks recent = new RecentChunks();

  /** When a read came back from the disk last, by {@link System#nanoTime()}. */
  private volatile long lastEndNanos = System.nanoTime();

  private RegionStore(
      Path directory,
      DiskCacheConfig config,
      DiskMetrics metrics,
      ChunkIndex index,
      Regions regions,
      DiskSpace space,
      Duration breakerPause,
      long mostWaitingBytes) {
    this.directory = directory;
    this.metrics = metrics;
    this.index = index;
    this.regions = regions;
    this.isShared = config.scope() != Scope.PRIVATE;
    this.deadlineNanos = config.readDeadline().toNanos();
    boolean sealed = config.key() != null;
    this.breaker = breaker(breakerPause, "Reading from the cache in " + directory);
    this.writing = breaker(breakerPause, "Writing to the cache in " + directory);
    this.appender =
        new Appender(
            regions,
            index,
            space,
            writing,
            metrics,
            new ChunkReader(regions, index, metrics, sealed),
            mostWaitingBytes,
            sealed);
    for (int i = 0; i < READERS; i++) {
      idle.add(new ChunkReader(regions, index, metrics, sealed));
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

  private Breaker breaker(Duration pause, String what) {
    return new Breaker(pause, System::nanoTime, metrics, what);
  }

  /**
   * Opens the cache in {@code directory}. Touches the disk, and takes as long as that does.
   *
   * @param objects of the cache as a whole
   * @param breakerPause how long the directory is left alone when it has failed first
   * @param mostWaitingBytes the most that waits in memory to be written, in bytes
   * @throws IOException if it cannot be used, must not be trusted or is too small, saying why
   */
  static RegionStore open(
      Path directory,
      DiskCacheConfig config,
      DiskMetrics metrics,
      DiskIo io,
      StoredObjects objects,
      Duration breakerPause,
      long mostWaitingBytes)
      throws IOException {
    Path real = DirectoryGuard.realDirectory(directory);
    long capacity = config.capacityBytes(io.usableBytes(real));
    if (capacity < LEAST_CAPACITY_BYTES) {
      String why = config.capacityBytes() == 0 ? "5 % of what is free" : "its capacity as set";
      throw new RefusedDirectoryException(
          real.toString(),
          "would hold " + capacity + " bytes, " + why,
          LEAST_CAPACITY_BYTES + " or more",
          null);
    }
    ChunkIndex index = new ChunkIndex();
    DiskSpace space = new DiskSpace(real);
    Regions regions =
        config.scope() == Scope.PRIVATE
            ? new PrivateRegions(io, real, index, space, capacity, config.key())
            : SharedRegions.open(io, real, config, capacity, index, objects);
    RegionStore opened =
        new RegionStore(
            real, config, metrics, index, regions, space, breakerPause, mostWaitingBytes);
    opened.appender.start();
    return opened;
  }

  /** Memory that one directory's buffers take, in bytes. */
  static long bufferBytes(DiskCacheConfig config) {
    boolean sealed = config.key() != null;
    return (READERS + 1) * ChunkReader.bufferBytes(sealed)
        + RecentChunks.bufferBytes()
        + Appender.bufferBytes(sealed);
  }

  /** As {@link DiskCache#look}. */
  int look(ChunkRange wanted) {
    boolean mayRead = breaker.allows() || breaker.isDue();
    int present = mayRead ? index.presentFrom(wanted.object(), wanted.first(), wanted.end()) : 0;
    if (present == 0 && isShared && breaker.allows()) {
      refreshSoon();
    }
    return present;
  }

  /** Has a thread of the directory look at what others have written, unless one did just now. */
  private void refreshSoon() {
    long last = refreshAskedNanos.get();
    long now = System.nanoTime();
    if (now - last > FRESH_NANOS && refreshAskedNanos.compareAndSet(last, now)) {
      boolean unused = execute(this::refresh);
    }
  }

  private void refresh() {
    try {
      regions.refresh(FRESH_NANOS);
    } catch (IOException e) {
      LOG.debug("The cache in {} cannot be looked at", directory, e);
      metrics.count(Counter.READ_ERRORS);
      breaker.failure(Breaker.Cause.of(e));
    }
  }

  /** As {@link DiskCache#read}. */
  DiskRead read(ChunkRange chunks, long position, ByteBuffer target, long patienceNanos) {
    DiskRead read = new DiskRead(this, chunks, position, target, patienceNanos);
    read.begin();
    return read;
  }

  RecentChunks recent() {
    return recent;
  }

  /** Whether a read may go to the disk: while the directory is left alone only a probe passes. */
  boolean admits() {
    return breaker.allows() || breaker.tryProbe();
  }

  /** A read that found nothing in the index says nothing of the disk. */
  private void succeeded(ChunkReader reader) {
    if (reader.hasTouchedDisk()) {
      breaker.success();
    }
  }

  private void failed(ChunkReader reader, ChunkRange wanted, IOException e) {
    LOG.debug("Read of {} failed", wanted, e);
    metrics.count(Counter.READ_ERRORS);
    breaker.failure(Breaker.Cause.of(e));
    reader.dropLast();
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

  /** Whether others wait for a reading thread. */
  boolean isAwaited() {
    return !readers.getQueue().isEmpty();
  }

  /**
   * Reads chunks on the calling thread.
   *
   * @return the chunk after the last one that was taken
   */
  int readChunks(ChunkRange wanted, ChunkSink sink) {
    ChunkReader reader = idle.remove();
    try {
      int taken = reader.read(wanted.object(), wanted.first(), wanted.end(), sink);
      succeeded(reader);
      return taken;
    } catch (IOException e) {
      failed(reader, wanted, e);
      return wanted.first();
    } finally {
      lastEndNanos = System.nanoTime();
      idle.add(reader);
    }
  }

  /**
   * A read passed its deadline.
   *
   * @param begun whether the disk has had it, and not the queue alone
   */
  void timedOut(boolean begun) {
    metrics.count(Counter.TIMEOUTS);
    // What still stands in the queue stands behind what hangs: a probe, and every read if none has
    // come through for as long as this one has waited.
    boolean hangs = System.nanoTime() - lastEndNanos > deadlineNanos;
    if (begun || hangs || !breaker.allows()) {
      breaker.failure(Breaker.Cause.SLOW);
    }
  }

  /** As {@link DiskCache#offer}. */
  void offer(WriteBack offered) {
    appender.offer(offered);
  }

  /** As {@link DiskCache#awaitWritten}. */
  boolean awaitWritten(Duration limit) throws InterruptedException {
    return appender.awaitIdle(limit);
  }

  long bytes() {
    return regions.bytes();
  }

  long capacityBytes() {
    return regions.capacityBytes();
  }

  /** Waits a bounded time for what is under way; what hangs is left to its daemon threads. */
  @Override
  public void close() {
    appender.close();
    readers.shutdown();
    boolean interrupted = Thread.interrupted();
    try {
      if (!readers.awaitTermination(CLOSE_MILLIS, TimeUnit.MILLISECONDS)) {
        LOG.warn("Reading from the cache in {} hangs; left behind", directory);
        readers.shutdownNow();
      }
    } catch (InterruptedException e) {
      readers.shutdownNow();
      interrupted = true;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    regions.close();
  }
}
