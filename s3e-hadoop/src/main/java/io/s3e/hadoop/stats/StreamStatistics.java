// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.stats;

import io.s3e.client.RequestFailure;
import io.s3e.metrics.EngineMetrics.Counter;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.s3a.Statistic;
import org.apache.hadoop.fs.s3a.statistics.S3AInputStreamStatistics;
import org.apache.hadoop.fs.s3a.statistics.S3AStatisticsContext;
import org.apache.hadoop.fs.statistics.DurationTracker;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsSnapshot;
import org.apache.hadoop.fs.statistics.impl.IOStatisticsStore;
import org.jspecify.annotations.Nullable;

/**
 * Counts the work of one stream: the bytes for its reader, told by the stream, and the work of the
 * core for it, heard as {@link StreamWork}. The names are those of {@link ReadStatistic}.
 *
 * <p>S3A's names are kept in S3A's counters of the stream, which S3A adds to the file system's when
 * the stream is closed; an older Hadoop ignores those that it does not know. S3A counts requests,
 * throttling and retries for the file system at once, and so they are here. The others are kept
 * here. Hadoop's bytes read are by thread, so they are told on the thread that reads; Spark takes a
 * task's input bytes from them.
 *
 * <p><b>The end.</b> {@link #end} adds the counts to those of the file system and of the opener,
 * once. What is heard afterwards (a GET that was on its way, a block that is read by another stream
 * or leaves memory unread) is added there as it comes. A count is heard before the end or after it:
 * what S3A counts shares a lock that the end takes alone.
 *
 * <p><b>Counters of the core under S3A's names</b> ({@link Followed}) are brought up to date in
 * S3A's when these are asked for, at the end, and with each event after it: there is one for each
 * block, and S3A's take a look into two maps.
 *
 * <p>Any thread; waits for nothing but that lock; holds no stream.
 */
public final class StreamStatistics extends StreamWork {
  private final S3AInputStreamStatistics s3a;
  private final @Nullable IOStatisticsStore names;
  private final FileSystem.@Nullable Statistics threads;
  private final S3AStatisticsContext fileSystem;

  /**
   * Offset of a GET in flight to it: a stream sends one GET for an offset at a time, and perhaps a
   * second one beside it, which takes over what has been told of the first.
   */
  private final ConcurrentMap<Long, Get> inFlight = new ConcurrentHashMap<>();

  /** Set under {@link #ending}, before the followed counters are looked at for the last time. */
  private volatile boolean ended;

  /** What S3A's counters have of those of the core. Guarded by {@link #ending}, taken alone. */
  private final Map<Followed, Long> followed = new EnumMap<>(Followed.class);

  private enum Followed {
    IN_CLOSE(Counter.WASTED_BYTES, ReadStatistic.STREAM_READ_BYTES_DISCARDED_IN_CLOSE),
    TOTAL(Counter.WASTED_BYTES, ReadStatistic.STREAM_READ_TOTAL_BYTES),
    PREFETCHED(Counter.PREFETCHED_BYTES, ReadStatistic.STREAM_READ_PREFETCHED_BYTES),
    HITS(Counter.MEMORY_HITS, ReadStatistic.STREAM_READ_CACHE_HIT);

    final Counter counter;
    final ReadStatistic name;

    Followed(Counter counter, ReadStatistic name) {
      this.counter = counter;
      this.name = name;
    }
  }

  /**
   * A GET in flight.
   *
   * @param sent how often it has gone out, as far as the client has told
   * @param guess measures it as a prefetch, if it is one
   */
  private record Get(
      long bytes, AtomicInteger sent, DurationTracker request, @Nullable DurationTracker guess) {}

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
    return beside(ofS3a());
  }

  private IOStatistics ofS3a() {
    return new JoinedStatistics(s3a.getIOStatistics(), this::follow, Map::of);
  }

  /** Brings S3A's counters up to date with those of the core; adds none by itself. */
  private Map<String, Long> follow() {
    ending.writeLock().lock();
    try {
      for (Followed each : Followed.values()) {
        long now = count(each.counter);
        Long before = followed.put(each, now);
        add(each.name, now - (before == null ? 0 : before));
      }
    } finally {
      ending.writeLock().unlock();
    }
    return Map.of();
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
    countRead(bytes);
    countForThread(bytes);
  }

  /** On the thread that submits; the ranges are counted by {@link #onVectoredRead}. */
  public void vectoredStarted(long bytes) {
    countForThread(bytes);
  }

  /** Called on the thread that completes the range. */
  public void vectoredCompleted(long bytes) {
    countRead(bytes);
  }

  private void countRead(long bytes) {
    ending.readLock().lock();
    try {
      s3a.bytesRead(bytes);
      if (ended) {
        // A range of a vectored read that came in the moment of the close.
        fileSystem.incrementCounter(Statistic.STREAM_READ_BYTES, bytes);
        fileSystem.incrementCounter(Statistic.STREAM_READ_TOTAL_BYTES, bytes);
        toAccount(ReadStatistic.STREAM_READ_BYTES.symbol(), bytes);
      }
    } finally {
      ending.readLock().unlock();
    }
  }

  private void countForThread(long bytes) {
    if (threads != null) {
      threads.incrementBytesRead(bytes);
    }
  }

  public void unbuffered() {
    follow();
    s3a.unbuffered();
  }

  /** The account of {@code opener} is told everything as it comes, in place of at the end. */
  public void tell(OpenerStatistics opener) {
    tell(opener, ofS3a());
  }

  /**
   * The stream is closed: adds all counts to those of the file system, and to the opener's. Called
   * once.
   */
  public void end(OpenerStatistics opener) {
    IOStatistics all;
    ending.writeLock().lock();
    try {
      follow();
      s3a.close();
      ended = true;
      // Of events that have not seen it.
      follow();
      all = new IOStatisticsSnapshot(statistics());
      tell(opener, ofS3a());
    } finally {
      ending.writeLock().unlock();
    }
    // Not under the lock, which is taken for whoever adds the stream's counters there under theirs.
    opener.toThread(all);
  }

  /** One of S3A's counters. */
  private void add(ReadStatistic statistic, long amount) {
    IOStatisticsStore store = names;
    if (store == null || amount == 0) {
      return;
    }
    ending.readLock().lock();
    try {
      store.incrementCounter(statistic.symbol(), amount);
      Statistic merged = ended ? Statistic.fromSymbol(statistic.symbol()) : null;
      if (merged != null) {
        fileSystem.incrementCounter(merged, amount);
      }
    } finally {
      ending.readLock().unlock();
    }
  }

  @Override
  public void onGetStarted(long offset, long bytes, boolean prefetch) {
    IOStatisticsStore store = names;
    // Counted when it is sent, timed from now on.
    DurationTracker request =
        store == null
            ? s3a.initiateGetRequest()
            : store.trackDuration(ReadStatistic.ACTION_HTTP_GET_REQUEST.symbol(), 0);
    DurationTracker guess = prefetch ? s3a.prefetchOperationStarted() : null;
    inFlight.compute(
        offset,
        (same, before) -> {
          if (before == null) {
            return new Get(bytes, new AtomicInteger(), request, guess);
          }
          end(before, false);
          return new Get(bytes, before.sent(), request, guess);
        });
  }

  @Override
  public void onGetSent(long offset, long bytes, boolean prefetch) {
    add(ReadStatistic.STREAM_READ_OPENED, 1);
    add(ReadStatistic.ACTION_HTTP_GET_REQUEST, 1);
    Get present =
        inFlight.computeIfPresent(
            offset,
            (same, get) -> {
              get.sent().incrementAndGet();
              return get;
            });
    if (present == null) {
      // Only a GET that S3E ends early ends before the client has told of it.
      aborted(1, bytes);
    }
  }

  private void aborted(int gets, long missingBytes) {
    add(ReadStatistic.STREAM_ABORTED, gets);
    add(ReadStatistic.STREAM_READ_BYTES_DISCARDED_IN_ABORT, missingBytes);
  }

  @Override
  public void onGetFinished(long offset, long received, long nanos, @Nullable Exception failure) {
    super.onGetFinished(offset, received, nanos, failure);
    RequestFailure.Kind kind = failure instanceof RequestFailure request ? request.kind() : null;
    if (kind == RequestFailure.Kind.THROTTLED) {
      fileSystem.incrementCounter(Statistic.STORE_IO_THROTTLED, 1);
      fileSystem.addValueToQuantiles(Statistic.STORE_IO_THROTTLE_RATE, 1);
    }
    Get get = inFlight.remove(offset);
    if (get == null) {
      return;
    }
    boolean isCancelled = kind == RequestFailure.Kind.CANCELLED;
    int sent = get.sent().get();
    if (!isCancelled) {
      add(ReadStatistic.STREAM_READ_CLOSED, sent);
    } else if (sent > 0) {
      aborted(sent, get.bytes() - received);
    }
    end(get, failure != null && !isCancelled);
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
  public void onCount(Counter counter, long amount) {
    super.onCount(counter, amount);
    if (ended) {
      follow();
    }
  }

  @Override
  public void onVectoredRead(int ranges, int reads) {
    s3a.readVectoredOperationStarted(ranges, reads);
  }

  /** S3A's counters in S3A's words. */
  @Override
  public String toString() {
    follow();
    return s3a.toString();
  }
}
