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
  public void onGetFinished(long offset, long received, long nanos, @Nullable Exception failure) {
    if (failure instanceof RequestFailure request
        && request.kind() == RequestFailure.Kind.THROTTLED) {
      onCount(Counter.THROTTLED, 1);
    }
  }

  @Override
  public void onCount(Counter counter, long amount) {
    add(own, counter, amount);
  }

  @Override
  public void onDiskCount(DiskMetrics.Counter counter, long amount) {
    add(disk, counter, amount);
  }
}
