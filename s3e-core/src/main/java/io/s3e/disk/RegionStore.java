package io.s3e.disk;

import io.s3e.disk.DiskCacheConfig.Scope;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.DiskMetrics.Counter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One directory of the cache: its regions, the index of what is in them, the {@link Readers} and
 * the {@link Appender} that work on it, and whether it is to be used.
 *
 * <p><b>Two breakers.</b> One for reading, one for writing: a disk that is full or mounted
 * read-only still answers.
 */
final class RegionStore implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RegionStore.class);

  /** What others have written is looked at no more often. */
  private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Path directory;
  private final boolean isShared;
  private final DiskMetrics metrics;
  private final ChunkIndex index;
  private final RegionFiles files;
  private final Regions regions;
  private final Breaker breaker;
  private final Appender appender;
  private final Readers readers;

  /** When a thread was last asked to look at what others have written. */
  private final AtomicBoolean refreshing = new AtomicBoolean();

  private final AtomicLong refreshAskedNanos = new AtomicLong(System.nanoTime());

  private RegionStore(
      Path directory,
      DiskCacheConfig config,
      DiskMetrics metrics,
      ChunkIndex index,
      RegionFiles files,
      List<Region> all,
      Duration breakerPause,
      long mostWaitingBytes) {
    boolean sealed = config.key() != null;
    DiskSpace space = new DiskSpace(directory);
    this.directory = directory;
    this.isShared = config.scope() != Scope.PRIVATE;
    this.metrics = metrics;
    this.index = index;
    this.files = files;
    this.regions = new Regions(files, all, space);
    this.breaker =
        new Breaker(
            breakerPause, System::nanoTime, metrics, "Reading from the cache in " + directory);
    this.readers =
        new Readers(files, index, metrics, breaker, sealed, config.readDeadline().toNanos());
    Breaker writing =
        new Breaker(
            breakerPause, System::nanoTime, metrics, "Writing to the cache in " + directory);
    this.appender =
        new Appender(
            regions,
            index,
            space,
            writing,
            metrics,
            new ChunkReader(files, index, metrics, sealed),
            mostWaitingBytes);
  }

  /**
   * Opens the cache in {@code directory}. Touches the disk, and takes as long as that does; what
   * others have written there is read afterwards, beside the reads.
   *
   * @param breakerPause how long the directory is left alone when it has failed first
   * @param mostWaitingBytes the most that waits in memory to be written, in bytes
   * @throws IOException if it cannot be used, must not be trusted or is too small, saying why
   */
  static RegionStore open(
      Path directory,
      DiskCacheConfig config,
      DiskMetrics metrics,
      DiskIo io,
      Duration breakerPause,
      long mostWaitingBytes)
      throws IOException {
    Path real = DirectoryGuard.realDirectory(directory);
    long capacity = config.capacityBytes(io.usableBytes(real));
    if (capacity < DiskCacheConfig.LEAST_CAPACITY_BYTES) {
      String why = config.capacityBytes() == 0 ? "5 % of what is free" : "its capacity as set";
      throw new RefusedDirectoryException(
          real.toString(),
          "would hold " + capacity + " bytes, " + why,
          DiskCacheConfig.LEAST_CAPACITY_BYTES + " or more",
          null);
    }
    ChunkIndex index = new ChunkIndex();
    RegionFiles files;
    List<Region> all;
    if (config.scope() == Scope.PRIVATE) {
      files = new PrivateFiles(io, real, index, config.key());
      long regionBytes = Region.bytesFor(capacity, Region.USUAL_COUNT);
      int count = (int) Math.min(Region.MOST_COUNT, capacity / regionBytes);
      all = Regions.enter(count, regionBytes, index);
    } else {
      SharedFiles shared = SharedFiles.open(io, real, config, capacity, index);
      files = shared;
      all = shared.regions();
    }
    RegionStore opened =
        new RegionStore(real, config, metrics, index, files, all, breakerPause, mostWaitingBytes);
    opened.appender.start();
    if (opened.isShared) {
      opened.beginRefresh();
    }
    return opened;
  }

  /** Memory that one directory's buffers take, in bytes. */
  static long bufferBytes(DiskCacheConfig config) {
    boolean sealed = config.key() != null;
    return Readers.bufferBytes(sealed) + ChunkReader.bufferBytes(sealed) + Appender.bufferBytes();
  }

  /** As {@link DiskCache#look}. */
  int look(ChunkRange wanted) {
    boolean mayRead = breaker.allows() || breaker.isDue();
    int present = mayRead ? index.presentFrom(wanted.object(), wanted.first(), wanted.end()) : 0;
    if (isShared && present < wanted.end() - wanted.first() && breaker.allows()) {
      refreshSoon();
    }
    return present;
  }

  /** Has a thread of the directory look at what others have written, unless one did just now. */
  private void refreshSoon() {
    long last = refreshAskedNanos.get();
    long now = System.nanoTime();
    if (now - last > FRESH_NANOS && refreshAskedNanos.compareAndSet(last, now)) {
      beginRefresh();
    }
  }

  /** One at a time: those of a slow disk would take all threads. */
  private void beginRefresh() {
    if (refreshing.compareAndSet(false, true) && !readers.execute(this::refresh)) {
      refreshing.set(false);
    }
  }

  private void refresh() {
    try {
      files.refresh();
    } catch (IOException e) {
      LOG.debug("The cache in {} cannot be looked at", directory, e);
      metrics.count(Counter.READ_ERRORS);
      breaker.failure(Breaker.Cause.of(e));
    } finally {
      refreshing.set(false);
    }
  }

  /** As {@link DiskCache#read}. */
  DiskRead read(ChunkRange chunks, long position, ByteBuffer target) {
    DiskRead read = new DiskRead(readers, chunks, position, target);
    read.begin();
    return read;
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
    readers.close();
    files.close();
  }
}
