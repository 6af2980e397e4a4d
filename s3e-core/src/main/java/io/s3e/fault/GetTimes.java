package io.s3e.fault;

import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * How long recent GETs took from their sending to their last byte, by their length: the base of
 * deadlines and hedges. The CRT hands a part over when it is whole, so that nothing but its
 * completion is seen.
 *
 * <p>A histogram for each class of lengths (powers of two from 64 KiB), with four buckets to each
 * doubling of the time. Counts are halved when a class has {@value #MOST_COUNTED} of them, so that
 * a class follows the link within some hundred GETs. Counts that are made while they are halved may
 * be lost: these are estimates.
 *
 * <p>Any thread, without locks.
 */
public final class GetTimes {
  /** Fewer say nothing of the slowest in a hundred. */
  private static final int LEAST_COUNTED = 50;

  private static final int MOST_COUNTED = 1_000;
  private static final int SHORTEST_BITS = 16;
  private static final int CLASSES = 9;

  /** The first bucket ends at 1 ms, the last one begins at about a minute. */
  private static final int BUCKETS = 64;

  private static final int BUCKETS_A_DOUBLING = 4;
  private static final double FIRST_NANOS = 1e6;

  private final AtomicIntegerArray counts = new AtomicIntegerArray(CLASSES * BUCKETS);
  private final AtomicIntegerArray totals = new AtomicIntegerArray(CLASSES);

  /** A GET of so many bytes took so long, be it to its end or until it was given up as late. */
  public void took(long bytes, long nanos) {
    int row = row(bytes);
    counts.incrementAndGet(row * BUCKETS + bucket(nanos));
    if (totals.incrementAndGet(row) == MOST_COUNTED) {
      halve(row);
    }
  }

  private void halve(int row) {
    int sum = 0;
    for (int i = row * BUCKETS; i < (row + 1) * BUCKETS; i++) {
      int half = counts.get(i) / 2;
      counts.set(i, half);
      sum += half;
    }
    totals.set(row, sum);
  }

  /**
   * The time that all but a share of recent GETs of about this length needed, rounded up to the end
   * of its bucket, in ns.
   *
   * @param slower the share that took longer, for example 0.05
   * @param unknown the answer where too few GETs have ended
   */
  public long quantileNanos(long bytes, double slower, long unknown) {
    int row = row(bytes);
    int total = 0;
    for (int i = 0; i < BUCKETS; i++) {
      total += counts.get(row * BUCKETS + i);
    }
    if (total < LEAST_COUNTED) {
      return unknown;
    }
    double above = slower * total;
    int bucket = BUCKETS - 1;
    for (int seen = counts.get(row * BUCKETS + bucket); seen <= above && bucket > 0; ) {
      bucket--;
      seen += counts.get(row * BUCKETS + bucket);
    }
    return (long) (FIRST_NANOS * Math.pow(2, (double) bucket / BUCKETS_A_DOUBLING));
  }

  private static int row(long bytes) {
    int bits = 64 - Long.numberOfLeadingZeros(Math.max(1, bytes) - 1);
    return Math.max(0, Math.min(CLASSES - 1, bits - SHORTEST_BITS));
  }

  private static int bucket(long nanos) {
    double doublings = Math.log(Math.max(1, nanos / FIRST_NANOS)) / Math.log(2);
    return (int) Math.min(BUCKETS - 1, Math.ceil(BUCKETS_A_DOUBLING * doublings));
  }
}
