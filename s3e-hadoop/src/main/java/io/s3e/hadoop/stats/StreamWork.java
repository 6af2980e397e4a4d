// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.stats;

import io.s3e.client.RequestFailure;
import io.s3e.metrics.Counters;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.metrics.StreamListener;
import java.util.Map;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.jspecify.annotations.Nullable;

/**
 * Counts the core's work for one stream, under the names of {@link ReadStatistic}, for the account
 * of its opener. Needs nothing of S3A's, and nothing that Hadoop 3.3.4 lacks.
 *
 * <p><b>The account.</b> {@link #tell} gives it all counts, once; what is heard afterwards (a GET
 * that was on its way, a block that is read by another stream or leaves memory unread) is given to
 * it as it comes. A count is heard before that or after it: events share a lock that {@code tell}
 * takes alone.
 *
 * <p>Any thread; waits for nothing but that lock; holds no stream.
 */
public class StreamWork implements StreamListener {
  private final Counters<Counter> own = new Counters<>(Counter.class);
  private final DiskMetrics disk = new DiskMetrics();

  /** Shared by events, taken alone where the counts are given out. */
  final ReadWriteLock ending = new ReentrantReadWriteLock();

  /** Whose account has all counts, and gets what comes; null if none has. Guarded by ending. */
  private @Nullable OpenerStatistics told;

  /** How long readers have waited for blocks until now, in ns. */
  public final long blockedNanos() {
    return own.get(Counter.WAIT_NANOS);
  }

  /** The counters as they are, beside what the stream has counted itself. */
  public final IOStatistics beside(IOStatistics ofStream) {
    return new JoinedStatistics(ofStream, () -> ReadStatistic.ofStream(own, disk), Map::of);
  }

  /**
   * Gives the account {@code all} counts, unless one has them, and from now on what comes.
   *
   * @param all live, with those of this
   */
  public final void tell(OpenerStatistics opener, IOStatistics all) {
    ending.writeLock().lock();
    try {
      if (told == null) {
        opener.toAccount(all);
        told = opener;
      }
    } finally {
      ending.writeLock().unlock();
    }
  }

  /** Gives the account a count by itself, if it has a name; the caller holds {@link #ending}. */
  final void toAccount(@Nullable String counter, long amount) {
    OpenerStatistics opener = told;
    if (opener != null && counter != null) {
      opener.toAccount(counter, amount);
    }
  }

  private void add(Counter counter, long amount) {
    add(own, counter, amount);
  }

  private void add(DiskMetrics.Counter counter, long amount) {
    add(disk, counter, amount);
  }

  private <C extends Enum<C>> void add(Counters<C> counters, C counter, long amount) {
    ending.readLock().lock();
    try {
      counters.add(counter, amount);
      if (told != null) {
        toAccount(ReadStatistic.symbolOf(counter), amount);
      }
    } finally {
      ending.readLock().unlock();
    }
  }

  @Override
  public void onGetSent(long offset, long bytes, boolean prefetch) {
    add(Counter.GETS, 1);
    if (prefetch) {
      add(Counter.PREFETCH_GETS, 1);
    }
  }

  @Override
  public void onGetFinished(long offset, long received, long nanos, @Nullable Exception failure) {
    if (failure instanceof RequestFailure request
        && request.kind() == RequestFailure.Kind.THROTTLED) {
      add(Counter.THROTTLED, 1);
    }
  }

  @Override
  public void onRetry(Exception failure) {
    add(Counter.RETRIES, 1);
  }

  @Override
  public void onHedge() {
    add(Counter.HEDGES, 1);
  }

  @Override
  public void onReceived(long bytes) {
    add(Counter.FETCHED_BYTES, bytes);
  }

  @Override
  public void onDiscarded(long bytes) {
    add(Counter.DISCARDED_BYTES, bytes);
    add(Counter.WASTED_BYTES, bytes);
  }

  @Override
  public void onPrefetched(long bytes) {
    add(Counter.PREFETCHED_BYTES, bytes);
  }

  @Override
  public void onUsed(long bytes, boolean prefetch) {
    add(Counter.USED_BYTES, bytes);
    if (prefetch) {
      add(Counter.PREFETCH_USED_BYTES, bytes);
    }
  }

  @Override
  public void onWasted(long bytes, boolean prefetch) {
    if (prefetch) {
      add(Counter.PREFETCH_WASTED_BYTES, bytes);
    }
    add(Counter.WASTED_BYTES, bytes);
  }

  @Override
  public void onPrefetchRefused() {
    add(Counter.PREFETCH_REFUSED, 1);
  }

  @Override
  public void onColumnar(Counter counter, long amount) {
    add(counter, amount);
  }

  @Override
  public void onMemoryHit(long bytes) {
    add(Counter.MEMORY_HITS, 1);
  }

  @Override
  public void onStall(long offset, long nanos) {
    add(Counter.WAITS, 1);
    add(Counter.WAIT_NANOS, nanos);
  }

  @Override
  public void onDiskHit(long bytes, boolean complete) {
    add(DiskMetrics.Counter.HITS, complete ? 1 : 0);
    add(DiskMetrics.Counter.HIT_BYTES, bytes);
  }

  @Override
  public void onDiskMiss(long bytes) {
    add(DiskMetrics.Counter.MISSES, 1);
    add(DiskMetrics.Counter.MISS_BYTES, bytes);
  }
}
