package io.s3e.prefetch;

/**
 * Counts prefetched bytes that were used and wasted, and says how far the prediction is to be
 * trusted. It counts in periods of a fixed number of bytes. A period that wastes more than a fifth
 * ends at once and adds one level of distrust; one that ends otherwise takes one level away.
 */
final class WasteLedger {
  /** Each level doubles the evidence that is asked for before prefetch starts. */
  static final int MAX_DISTRUST = 3;

  /** A period may waste one part in so many. */
  private static final int TOLERATED_PART = 5;

  private final long periodBytes;
  private long used;
  private long wasted;
  private int distrust;
  private boolean fellBack;

  WasteLedger(long periodBytes) {
    this.periodBytes = periodBytes;
  }

  /** 0 while the prediction holds, up to {@link #MAX_DISTRUST}. */
  int distrust() {
    return distrust;
  }

  void used(long bytes) {
    used += bytes;
    if (used + wasted >= periodBytes) {
      distrust = Math.max(0, distrust - 1);
      begin();
    }
  }

  void wasted(long bytes) {
    wasted += bytes;
    if (wasted > periodBytes / TOLERATED_PART) {
      distrust = Math.min(MAX_DISTRUST, distrust + 1);
      fellBack = true;
      begin();
    }
  }

  /** Whether a period has ended for waste since this was asked last. */
  boolean takeFallBack() {
    boolean taken = fellBack;
    fellBack = false;
    return taken;
  }

  private void begin() {
    used = 0;
    wasted = 0;
  }
}
