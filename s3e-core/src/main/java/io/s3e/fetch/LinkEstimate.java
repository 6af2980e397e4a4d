package io.s3e.fetch;

import java.util.Arrays;

/**
 * Bandwidth × latency of the way to the store, in bytes: how much must be in flight to keep it
 * full.
 *
 * <p>Bandwidth is the highest rate at which bodies arrived over any of the last {@value #BUCKETS}
 * intervals of {@value #BUCKET_MILLIS} ms; latency the shortest time that a large request took
 * lately, so that requests queueing behind each other do not make the link look longer. The cap is
 * four times the product: twice, so that a growing window can find out that there is more, and
 * twice again because both factors are measured low while it still grows.
 *
 * <p>Time is passed in. Not thread-safe; callers synchronise.
 */
final class LinkEstimate {
  private static final int BUCKETS = 16;
  private static final long BUCKET_MILLIS = 250;
  private static final long BUCKET_NANOS = BUCKET_MILLIS * 1_000_000;
  private static final int LATENCIES = 32;
  private static final int HEADROOM = 4;

  private final long[] bucketBytes = new long[BUCKETS];
  private long lastBucket = Long.MIN_VALUE;
  private final long[] latencyNanos = new long[LATENCIES];
  private int latencies;
  private long largestRequest;

  /**
   * A GET ended well.
   *
   * @param now its end, in ns of any steady clock
   */
  void completed(long bytes, long tookNanos, long now) {
    long bucket = Math.floorDiv(now, BUCKET_NANOS);
    if (lastBucket == Long.MIN_VALUE || bucket - lastBucket > BUCKETS) {
      Arrays.fill(bucketBytes, 0);
    } else {
      for (long b = lastBucket + 1; b <= bucket; b++) {
        bucketBytes[(int) Math.floorMod(b, (long) BUCKETS)] = 0;
      }
    }
    lastBucket = bucket;
    bucketBytes[(int) Math.floorMod(bucket, (long) BUCKETS)] += bytes;
    largestRequest = Math.max(bytes, largestRequest);
    if (bytes >= largestRequest / 2) {
      latencyNanos[latencies++ % LATENCIES] = tookNanos;
    }
  }

  /** Four times bandwidth × latency in bytes; {@link Long#MAX_VALUE} until enough has been seen. */
  long windowBytes() {
    if (latencies < LATENCIES) {
      return Long.MAX_VALUE;
    }
    long best = 0;
    for (long bytes : bucketBytes) {
      best = Math.max(best, bytes);
    }
    long shortest = Long.MAX_VALUE;
    for (long nanos : latencyNanos) {
      shortest = Math.min(shortest, nanos);
    }
    double bytesPerNano = (double) best / BUCKET_NANOS;
    return (long) (HEADROOM * bytesPerNano * shortest);
  }
}
