package io.s3e.disk;

import io.s3e.disk.DiskCacheConfig.Scope;
import io.s3e.disk.DiskRead.Receiver;
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
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One directory of the cache: its regions, the index of what is in them, the threads that work on
 * it, and whether it is to be used.
 *
 * <p><b>Threads.</b> A few {@code s3e-disk} threads read and claim; the {@link Appender}'s writes.
 * Only these touch the disk, so what hangs there holds them and nobody else: a read that hangs is
 * given up by its deadline, and after some of those the directory is left alone. When the pause is
 * over the next read is the probe; if it does not come through in time either, because it stands
 * behind what hangs, the pause is doubled.
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

  /** Memory of so many is enough for two streams at a time on each of the threads. */
  private static final int SPARE_READERS = 2 * READERS;

  /** So late at most, those who look at memory alone see what others have written. */
  private static final long FRESH_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private static final long CLOSE_MILLIS = 500;
  private static final long IDLE_SECONDS = 10;

  private final Path directory;
  private final DiskMetrics metrics;
  private final ChunkIndex index;
  private final Regions regions;
  private final @Nullable SharedClaims claims;
  private final Breaker breaker;
  private final Breaker writing;
  private final Appender appender;
  private final ThreadPoolExecutor readers;
  private final ScheduledExecutorService polls;

  /** When a thread was last asked to look at what others have written. */
  private final AtomicLong refreshAskedNanos = new AtomicLong(System.nanoTime());

  private final long deadlineNanos;

  /** Readers of threads that are not reading just now: one for each thread that there may be. */
  private final Queue<ChunkReader> idle = new ConcurrentLinkedQueue<>();

  /** Readers for those who take what they have read by themselves. */
  private final Queue<ChunkReader> spare = new ConcurrentLinkedQueue<>();

  /** When a read came back from the disk last, by {@link System#nanoTime()}. */
  private volatile long lastEndNanos = System.nanoTime();

  private RegionStore(
      Path directory,
      DiskCacheConfig config,
      DiskMetrics metrics,
      ChunkIndex index,
      Regions regions,
      @Nullable SharedClaims claims,
      DiskSpace space,
      Duration breakerPause,
      ScheduledExecutorService polls,
      long mostWaitingBytes) {
    this.directory = directory;
    this.metrics = metrics;
    this.index = index;
    this.regions = regions;
    this.claims = claims;
    this.polls = polls;
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
    for (int i = 0; i < SPARE_READERS; i++) {
      spare.add(new ChunkReader(regions, index, metrics, sealed));
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
      ScheduledExecutorService polls,
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
    Regions regions;
    SharedClaims claims = null;
    if (config.scope() == Scope.PRIVATE) {
      regions = new PrivateRegions(io, real, index, space, capacity, config.key());
    } else {
      SharedRegions shared = SharedRegions.open(io, real, config, capacity, index, objects);
      regions = shared;
      claims = shared.claims();
    }
    RegionStore opened =
        new RegionStore(
            real,
            config,
            metrics,
            index,
            regions,
            claims,
            space,
            breakerPause,
            polls,
            mostWaitingBytes);
    opened.appender.start();
    return opened;
  }

  /** Memory that one directory's buffers take, in bytes. */
  static long bufferBytes(DiskCacheConfig config) {
    boolean sealed = config.key() != null;
    return (READERS + SPARE_READERS + 1) * ChunkReader.bufferBytes(sealed)
        + Appender.bufferBytes(sealed);
  }

  /** As {@link DiskCache#presentFrom}. */
  int presentFrom(ChunkRange wanted) {
    int present = mayRead() ? index.presentFrom(wanted.object(), wanted.first(), wanted.end()) : 0;
    if (present == 0 && claims != null && breaker.allows()) {
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

  private boolean mayRead() {
    return breaker.allows() || breaker.isDue();
  }

  /** As {@link DiskCache#read}. */
  DiskRead read(ChunkRange wanted, Receiver receiver) {
    RegionRead read = new RegionRead(this, wanted, receiver);
    // While the directory is left alone only a probe passes.
    if (!(breaker.allows() || breaker.tryProbe()) || !execute(read)) {
      read.end(DiskRead.End.MISS);
    }
    return read;
  }

  /** As {@link DiskCache#stream}. */
  @Nullable ChunkStream stream(ChunkRange wanted, long patienceNanos) {
    return breaker.allows() && !spare.isEmpty()
        ? new ChunkStream(this, wanted, patienceNanos)
        : null;
  }

  /** Memory to read into; null if others have all of it. */
  @Nullable ChunkReader takeReader() {
    return spare.poll();
  }

  void giveBack(ChunkReader reader) {
    spare.add(reader);
  }

  /**
   * Reads chunks on the calling thread, as {@link ChunkReader#readBatch(ChunkRange)}; null if none
   * is there.
   */
  @Nullable ByteBuffer readPiece(ChunkReader reader, ChunkRange wanted) {
    try {
      ByteBuffer bytes = reader.readBatch(wanted);
      succeeded(reader);
      return bytes;
    } catch (IOException e) {
      failed(reader, wanted, e);
      return null;
    } finally {
      lastEndNanos = System.nanoTime();
    }
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

  /** As {@link DiskCache#claim}. */
  DiskRead claim(ChunkRange wanted, int enough, Receiver receiver) {
    Announcement announcement = new Announcement(this, wanted, enough, receiver);
    if (!breaker.allows() || !appender.mayWrite() || !execute(announcement)) {
      announcement.end(DiskRead.End.MISS);
    }
    return announcement;
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

  /** Looks at the work of others, and whether the first {@code enough} of the chunks are there. */
  boolean isThere(ChunkRange wanted, int enough) throws IOException {
    regions.refresh(0);
    int end = Math.min(wanted.end(), wanted.first() + enough);
    return index.presentFrom(wanted.object(), wanted.first(), end) == end - wanted.first();
  }

  /** Whose chunks are to fetch. */
  SharedClaims.Claimant claimant(ChunkRange wanted) {
    SharedClaims all = claims;
    if (all == null || !appender.mayWrite()) {
      return SharedClaims.Claimant.NOBODY;
    }
    try {
      return all.claim(wanted.object(), wanted.first(), wanted.end());
    } catch (IOException e) {
      LOG.debug("Claim of {} failed", wanted, e);
      metrics.count(Counter.WRITE_ERRORS);
      writing.failure(Breaker.Cause.of(e));
      return SharedClaims.Claimant.NOBODY;
    }
  }

  /** As {@link DiskCache#claimEnded}. */
  void claimEnded(ChunkRange claimed) {
    SharedClaims all = claims;
    if (all != null) {
      boolean unused = execute(() -> all.ended(claimed.object(), claimed.first(), claimed.end()));
    }
  }

  /** As {@link DiskCache#unclaimedFrom}. */
  int unclaimedFrom(ChunkRange wanted) {
    SharedClaims all = claims;
    return all == null
        ? wanted.end() - wanted.first()
        : all.unclaimedFrom(wanted.object(), wanted.first(), wanted.end());
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
