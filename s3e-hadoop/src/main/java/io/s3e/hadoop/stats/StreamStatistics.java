package io.s3e.hadoop.stats;

import io.s3e.client.RequestFailure;
import io.s3e.metrics.Counters;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.metrics.StreamListener;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.s3a.Statistic;
import org.apache.hadoop.fs.s3a.statistics.S3AInputStreamStatistics;
import org.apache.hadoop.fs.s3a.statistics.S3AStatisticsContext;
import org.apache.hadoop.fs.statistics.DurationTracker;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.impl.IOStatisticsStore;
import org.jspecify.annotations.Nullable;

/**
 * Counts the work of one stream: the bytes for its reader, told by the stream, and the work of the
 * core for it, heard as its {@link StreamListener}. The names are those of {@link ReadStatistic}.
 *
 * <p>S3A's names are kept in S3A's counters of the stream, which S3A adds to the file system's when
 * the stream is closed; an older Hadoop ignores those that it does not know. S3A counts requests,
 * throttling and retries for the file system at once, and so they are here. The others are kept
 * here. Hadoop's bytes read are by thread, so they are told on the thread that reads; Spark takes a
 * task's input bytes from them.
 *
 * <p>Any thread; takes no lock; holds no stream.
 */
public final class StreamStatistics implements StreamListener {
  private final S3AInputStreamStatistics s3a;
  private final @Nullable IOStatisticsStore names;
  private final FileSystem.@Nullable Statistics threads;
  private final S3AStatisticsContext fileSystem;
  private final Counters<Counter> own = new Counters<>(Counter.class);
  private final DiskMetrics disk = new DiskMetrics();

  /** Offset of a GET in flight to it: a stream sends one GET for an offset at a time. */
  private final ConcurrentMap<Long, Get> inFlight = new ConcurrentHashMap<>();

  /** A GET in flight; {@code guess} measures it as a prefetch, if it is one. */
  private record Get(long bytes, DurationTracker request, @Nullable DurationTracker guess) {}

  /**
   * @param s3a S3A's counters of the stream
   * @param threads Hadoop's counters of the file system by thread; null where there are none
   * @param fileSystem S3A's counters of the file system
   */
  public StreamStatistics(
      S3AInputStreamStatistics s3a,
      FileSystem.@Nullable Statistics threads,
      S3AStatisticsContext fileSystem) {
    this.s3a = s3a;
    this.names = s3a.getIOStatistics() instanceof IOStatisticsStore store ? store : null;
    this.threads = threads;
    this.fileSystem = fileSystem;
  }

  /** All counters of the stream, as live as they are. */
  public IOStatistics statistics() {
    return new JoinedStatistics(
        s3a.getIOStatistics(), () -> ReadStatistic.ofStream(own, disk), Map::of);
  }

  public void seek(long from, long to) {
    if (to > from) {
      s3a.seekForwards(to - from, 0);
    } else {
      s3a.seekBackwards(to - from);
    }
  }

  public void readStarted(long position, long requested) {
    s3a.readOperationStarted(position, requested);
  }

  /**
   * @param got bytes, or -1 at the end of the file
   */
  public void readCompleted(int requested, int got) {
    if (got > 0) {
      bytesRead(got);
    }
    s3a.readOperationCompleted(requested, got);
  }

  public void readFullyStarted(long position, long requested) {
    s3a.readFullyOperationStarted(position, requested);
  }

  public void bytesRead(long bytes) {
    s3a.bytesRead(bytes);
    countForThread(bytes);
  }

  /** On the thread that submits; the ranges are counted by {@link #onVectoredRead}. */
  public void vectoredStarted(long bytes) {
    countForThread(bytes);
  }

  /** Called on the thread that completes the range. */
  public void vectoredCompleted(long bytes) {
    s3a.bytesRead(bytes);
  }

  private void countForThread(long bytes) {
    if (threads != null) {
      threads.incrementBytesRead(bytes);
    }
  }

  private void add(ReadStatistic statistic, long amount) {
    IOStatisticsStore store = names;
    if (store != null) {
      store.incrementCounter(statistic.symbol(), amount);
    }
  }

  @Override
  public void onGetStarted(long offset, long bytes, boolean prefetch) {
    own.count(Counter.GETS);
    s3a.streamOpened();
    DurationTracker guess = null;
    if (prefetch) {
      own.count(Counter.PREFETCH_GETS);
      guess = s3a.prefetchOperationStarted();
    }
    Get displaced = inFlight.put(offset, new Get(bytes, s3a.initiateGetRequest(), guess));
    if (displaced != null) {
      end(displaced, false);
    }
  }

  @Override
  public void onGetFinished(long offset, long received, long nanos, @Nullable Exception failure) {
    RequestFailure.Kind kind = failure instanceof RequestFailure request ? request.kind() : null;
    if (kind == RequestFailure.Kind.THROTTLED) {
      own.count(Counter.THROTTLED);
      fileSystem.incrementCounter(Statistic.STORE_IO_THROTTLED, 1);
      fileSystem.addValueToQuantiles(Statistic.STORE_IO_THROTTLE_RATE, 1);
    }
    Get get = inFlight.remove(offset);
    if (get == null) {
      return;
    }
    if (kind == RequestFailure.Kind.CANCELLED) {
      add(ReadStatistic.STREAM_ABORTED, 1);
      add(ReadStatistic.STREAM_READ_BYTES_DISCARDED_IN_ABORT, get.bytes() - received);
    } else {
      add(ReadStatistic.STREAM_READ_CLOSED, 1);
    }
    end(get, failure != null);
  }

  private void end(Get get, boolean failed) {
    end(get.request(), failed);
    DurationTracker guess = get.guess();
    if (guess != null) {
      end(guess, failed);
      s3a.prefetchOperationCompleted();
    }
  }

  private static void end(DurationTracker tracker, boolean failed) {
    if (failed) {
      tracker.failed();
    }
    tracker.close();
  }

  /** As S3A's {@code operationRetried}; throttling was counted when it was answered. */
  @Override
  public void onRetry(Exception failure) {
    own.count(Counter.RETRIES);
    s3a.readException();
    boolean throttled =
        failure instanceof RequestFailure request
            && request.kind() == RequestFailure.Kind.THROTTLED;
    if (!throttled) {
      fileSystem.incrementCounter(Statistic.STORE_IO_RETRY, 1);
      fileSystem.incrementCounter(Statistic.IGNORED_ERRORS, 1);
    }
  }

  @Override
  public void onHedge() {
    own.count(Counter.HEDGES);
  }

  @Override
  public void onReceived(long bytes) {
    own.add(Counter.FETCHED_BYTES, bytes);
  }

  @Override
  public void onDiscarded(long bytes) {
    own.add(Counter.DISCARDED_BYTES, bytes);
  }

  @Override
  public void onPrefetched(long bytes) {
    own.add(Counter.PREFETCHED_BYTES, bytes);
    add(ReadStatistic.STREAM_READ_PREFETCHED_BYTES, bytes);
  }

  @Override
  public void onPrefetchUsed(long bytes) {
    own.add(Counter.PREFETCH_USED_BYTES, bytes);
  }

  @Override
  public void onPrefetchWasted(long bytes) {
    own.add(Counter.PREFETCH_WASTED_BYTES, bytes);
    add(ReadStatistic.STREAM_READ_BYTES_DISCARDED_IN_CLOSE, bytes);
    add(ReadStatistic.STREAM_READ_TOTAL_BYTES, bytes);
  }

  @Override
  public void onPrefetchRefused() {
    own.count(Counter.PREFETCH_REFUSED);
  }

  @Override
  public void onColumnar(Counter counter, long amount) {
    own.add(counter, amount);
  }

  @Override
  public void onVectoredRead(int ranges, int reads) {
    s3a.readVectoredOperationStarted(ranges, reads);
  }

  @Override
  public void onMemoryHit(long bytes) {
    own.count(Counter.MEMORY_HITS);
    add(ReadStatistic.STREAM_READ_CACHE_HIT, 1);
  }

  @Override
  public void onStall(long offset, long nanos) {
    own.count(Counter.WAITS);
    own.add(Counter.WAIT_NANOS, nanos);
  }

  @Override
  public void onDiskHit(long bytes) {
    disk.count(DiskMetrics.Counter.HITS);
    disk.add(DiskMetrics.Counter.HIT_BYTES, bytes);
  }

  @Override
  public void onDiskMiss(long bytes) {
    disk.count(DiskMetrics.Counter.MISSES);
    disk.add(DiskMetrics.Counter.MISS_BYTES, bytes);
  }
}
