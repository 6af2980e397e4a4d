// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.stats;

import io.s3e.client.RequestFailure;
import io.s3e.metrics.Counters;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.metrics.StreamListener;
import java.util.HashMap;
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
 * it as it comes: what a counter has beyond what was given of it, under the lock. An event counts
 * first and asks then whether the account was told, which is said before the counters are read: so
 * each count is given once, and as long as nobody was told, an event takes no lock.
 *
 * <p>Any thread; waits for nothing but that lock; holds no stream.
 */
public class StreamWork implements StreamListener {
  private final Counters<Counter> own = new Counters<>(Counter.class);
  private final DiskMetrics disk = new DiskMetrics();

  /** Shared by what S3A counts, taken alone where counts are given out. */
  final ReadWriteLock ending = new ReentrantReadWriteLock();

  /** Whose account has all counts, and gets what comes; null if none has. Set under the lock. */
  private volatile @Nullable OpenerStatistics told;

  /** What the account has of each counter of this. Guarded by ending, taken alone. */
  private final Map<String, Long> given = new HashMap<>();

  /** How long readers have waited for blocks until now, in ns. */
  public final long blockedNanos() {
    return own.get(Counter.WAIT_NANOS);
  }

  /** One of the counters as it is. */
  final long count(Counter counter) {
    return own.get(counter);
  }

  /** The counters as they are, beside what the stream has counted itself. */
  final IOStatistics beside(IOStatistics ofStream) {
    return new JoinedStatistics(ofStream, () -> ReadStatistic.ofStream(own, disk), Map::of);
  }

  /** Gives the account all counts, unless one has them, and from now on what comes. */
  public final void tell(OpenerStatistics opener, IOStatistics ofStream) {
    ending.writeLock().lock();
    try {
      if (told == null) {
        told = opener;
        given.putAll(ReadStatistic.ofStream(own, disk));
        opener.toAccount(new JoinedStatistics(ofStream, () -> given, Map::of));
      }
    } finally {
      ending.writeLock().unlock();
    }
  }

  /** Gives the account a count that is not of this; the caller holds {@link #ending}. */
  final void toAccount(String counter, long amount) {
    OpenerStatistics opener = told;
    if (opener != null) {
      opener.toAccount(counter, amount);
    }
  }

  private <C extends Enum<C>> void add(Counters<C> counters, C counter, long amount) {
    counters.add(counter, amount);
    if (told != null) {
      giveRest(counters, counter);
    }
  }

  /** Gives the account what a counter has grown by since. */
  private <C extends Enum<C>> void giveRest(Counters<C> counters, C counter) {
    String name = ReadStatistic.symbolOf(counter);
    if (name == null) {
      return;
    }
    ending.writeLock().lock();
    try {
      Long before = given.get(name);
      long now = counters.get(counter);
      if (before != null && now != before) {
        given.put(name, now);
        toAccount(name, now - before);
      }
    } finally {
      ending.writeLock().unlock();
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
