// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What a reader waits for bytes from disk and from S3, measured all the time with all queues, and
 * which of them it is to ask. A disk that is slower than S3 is asked once a {@value #PROBE_MILLIS}
 * ms, to know when it is better again. Where nobody has a read for it, that is forgotten in the
 * end: it would be slower for good. A busy processor makes both slower, and nothing follows.
 *
 * <p>Short reads are compared with short GETs, and a MiB of longer ones with a MiB. Averages of
 * about {@value #WEIGHT} reads; threads that tell at once may lose one. Any thread.
 */
final class DiskSpeed {
  private static final int SHORT_BYTES = 256 << 10;
  private static final int WEIGHT = 8;
  private static final long PROBE_MILLIS = 500;
  private static final long FORGOTTEN_NANOS = TimeUnit.SECONDS.toNanos(30);

  /** A disk that is as fast as that spares requests, however near the store is. */
  private static final long FAST_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private static final class Average {
    private volatile long nanos;
    private volatile int count;
    private volatile long toldNanos;

    void add(long one) {
      int before = count;
      long old = nanos;
      nanos = before == 0 ? one : old + (one - old) / Math.min(WEIGHT, before + 1);
      count = Math.min(WEIGHT, before + 1);
    }

    boolean isKnown() {
      return count == WEIGHT;
    }
  }

  /** Short reads, then long ones. */
  private final Average[] ofDisk = {new Average(), new Average()};

  private final Average[] ofStore = {new Average(), new Average()};
  private final AtomicLong probedNanos = new AtomicLong(System.nanoTime());

  private static int kindOf(long bytes) {
    return bytes < SHORT_BYTES ? 0 : 1;
  }

  private static long normal(long bytes, long nanos) {
    return bytes < SHORT_BYTES ? nanos : (long) ((double) nanos * (1 << 20) / bytes);
  }

  /**
   * A reader has waited so long, until {@code now}, for bytes from disk. One that was given up is
   * told too; one that found nothing says nothing.
   */
  void onDisk(long come, long wanted, long nanos, long now) {
    if (come > 0 || nanos > FAST_NANOS) {
      long bytes = come > 0 ? come : wanted;
      ofDisk[kindOf(bytes)].toldNanos = now;
      ofDisk[kindOf(bytes)].add(normal(bytes, nanos));
    }
  }

  /** So many bytes have come from S3, so long after they were asked for. */
  void onStore(long bytes, long nanos) {
    ofStore[kindOf(bytes)].add(normal(bytes, nanos));
  }

  /** Whether S3 gives reads of one kind sooner: any bytes may be read in that one. */
  boolean isDiskSlower() {
    return isDiskSlower(0) || isDiskSlower(SHORT_BYTES);
  }

  /** Whether S3 gives so many bytes sooner than the disk, as far as is known. */
  boolean isDiskSlower(long bytes) {
    int kind = kindOf(bytes);
    Average disk = ofDisk[kind];
    // The time of the other kind stands for S3's where there were none of this one.
    Average store = ofStore[kind].isKnown() ? ofStore[kind] : ofStore[1 - kind];
    boolean isSlower =
        disk.isKnown() && store.isKnown() && disk.nanos > Math.max(FAST_NANOS, store.nanos);
    if (isSlower && System.nanoTime() - disk.toldNanos > FORGOTTEN_NANOS) {
      disk.count = 0;
    }
    return isSlower && disk.isKnown();
  }

  /** As above for so many bytes; now and then false for one reader, who tells how long it took. */
  boolean leavesDisk(long bytes) {
    long last = probedNanos.get();
    return isDiskSlower(bytes)
        && (System.nanoTime() - last < TimeUnit.MILLISECONDS.toNanos(PROBE_MILLIS)
            || !probedNanos.compareAndSet(last, System.nanoTime()));
  }
}
