// SPDX-License-Identifier: Apache-2.0
package io.s3e.fault;

/**
 * How long recent GETs took from their sending to their last byte, by their length: the base of
 * deadlines and hedges. The CRT hands a part over when it is whole, so that nothing but its
 * completion is seen.
 *
 * <p>A histogram for each class of lengths (powers of two from 64 KiB), with four buckets to each
 * doubling of the time. Counts are halved when a class has {@value #MOST_COUNTED} of them, so that
 * a class follows the link within some hundred GETs.
 *
 * <p><b>GETs that have come are counted, and no others</b>: the times of those that were given up
 * would lengthen everybody's patience, and with it themselves, wherever some objects hang.
 *
 * <p><b>What is expected</b> stands in for the counts that a class still lacks of {@value
 * #LEAST_COUNTED}: the time of the nearest class that has them, plus the bytes between the two at
 * the rate of one connection; without such a class, what S3 needs (docs/adr/0019-hedging.md).
 *
 * <p>Any thread.
 */
public final class GetTimes {
  /** Fewer say nothing of the slowest in fifty. */
  private static final int LEAST_COUNTED = 50;

  private static final int MOST_COUNTED = 1_000;
  private static final int SHORTEST_BITS = 16;
  private static final int CLASSES = 9;

  /** The first bucket ends at 1 ms, the last one begins at about a minute. */
  private static final int BUCKETS = 64;

  private static final int BUCKETS_A_DOUBLING = 4;
  private static final double FIRST_NANOS = 1e6;

  /** What S3 needs to the first byte, with some room for a handshake. */
  private static final long EXPECTED_FIRST_BYTE_NANOS = 150_000_000;

  /** 60 MB/s: a connection that shares its link. */
  private static final double EXPECTED_NANOS_A_BYTE = 1e9 / 60e6;

  /** A reader waits for a GET so many times as long as all but one in fifty take. */
  private static final int SLOW_FACTOR = 4;

  private static final double SLOW_SHARE = 0.02;

  /** With what is fetched again, one GET that hangs costs its reader less than a second. */
  private static final long LEAST_PATIENCE_NANOS = 700_000_000;

  /** A GET is late after so many times as long as all but one in twenty take. */
  private static final int LATE_FACTOR = 3;

  private static final double LATE_SHARE = 0.05;
  private static final long LEAST_LATE_NANOS = 200_000_000;

  // Guarded by this.
  private final int[][] counts = new int[CLASSES][BUCKETS];
  private final int[] totals = new int[CLASSES];

  public synchronized void took(long bytes, long nanos) {
    int row = row(bytes);
    counts[row][bucket(nanos)]++;
    if (++totals[row] == MOST_COUNTED) {
      totals[row] = 0;
      for (int i = 0; i < BUCKETS; i++) {
        counts[row][i] /= 2;
        totals[row] += counts[row][i];
      }
    }
  }

  /** How long a reader waits for a GET of so many bytes before another is sent for it, in ns. */
  public long patienceNanos(long bytes) {
    return Math.max(LEAST_PATIENCE_NANOS, SLOW_FACTOR * quantileNanos(bytes, SLOW_SHARE));
  }

  public long lateNanos(long bytes) {
    return Math.max(LEAST_LATE_NANOS, LATE_FACTOR * quantileNanos(bytes, LATE_SHARE));
  }

  /**
   * The time that all but a share {@code slower} of GETs of about this length need, rounded up to
   * the end of its bucket, in ns.
   */
  synchronized long quantileNanos(long bytes, double slower) {
    int row = row(bytes);
    int missing = LEAST_COUNTED - totals[row];
    return missing <= 0
        ? quantileNanos(row, slower, 0, 0)
        : quantileNanos(row, slower, bucket(expectedNanos(row, slower)), missing);
  }

  /** With {@code added} counts more in the bucket {@code addedTo}. */
  private long quantileNanos(int row, double slower, int addedTo, int added) {
    double above = slower * (totals[row] + added);
    int bucket = BUCKETS;
    for (double seen = 0; seen <= above && bucket > 0; ) {
      bucket--;
      seen += counts[row][bucket] + (bucket == addedTo ? added : 0);
    }
    return (long) (FIRST_NANOS * Math.pow(2, (double) bucket / BUCKETS_A_DOUBLING));
  }

  private long expectedNanos(int row, double slower) {
    for (int away = 1; away < CLASSES; away++) {
      // The longer of two takes longer: the safer base.
      for (int known : new int[] {row + away, row - away}) {
        if (known >= 0 && known < CLASSES && totals[known] >= LEAST_COUNTED) {
          long more = Math.max(0, longest(row) - longest(known));
          return quantileNanos(known, slower, 0, 0) + nanos(more);
        }
      }
    }
    return EXPECTED_FIRST_BYTE_NANOS + nanos(longest(row));
  }

  private static long nanos(long bytes) {
    return (long) (bytes * EXPECTED_NANOS_A_BYTE);
  }

  private static long longest(int row) {
    return 1L << (SHORTEST_BITS + row);
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
