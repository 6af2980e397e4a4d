// SPDX-License-Identifier: Apache-2.0
package io.s3e.prefetch;

/**
 * What became of the guesses of one stream's windows, and how far the next are to be distrusted.
 * Guesses are counted in periods of a number of bytes. A period that wastes more than one part in
 * {@value #TOLERATED_PART} of it ends at once and adds one level of distrust; one that ends
 * otherwise takes one level away. Any thread; holds its lock for arithmetic alone.
 */
final class Ledger implements GuessJudge {
  /** A stream is trusted at none. */
  private static final int MOST_DISTRUST = 3;

  private static final int TOLERATED_PART = 5;

  private final long periodBytes;
  private long usedBytes;
  private long wastedBytes;
  private int distrust;
  private int failedPeriods;

  Ledger(long periodBytes) {
    this.periodBytes = periodBytes;
  }

  @Override
  public synchronized void settle(GuessKind kind, long used, long wasted) {
    usedBytes += used;
    wastedBytes += wasted;
    boolean hasFailed = wastedBytes > periodBytes / TOLERATED_PART;
    if (hasFailed) {
      distrust = Math.min(MOST_DISTRUST, distrust + 1);
      failedPeriods++;
    } else if (usedBytes + wastedBytes >= periodBytes) {
      distrust = Math.max(0, distrust - 1);
    } else {
      return;
    }
    usedBytes = 0;
    wastedBytes = 0;
  }

  /** 0 while guesses come true; the more, the less they do. */
  synchronized int distrust() {
    return distrust;
  }

  /** How many periods have ended for waste. */
  synchronized int failedPeriods() {
    return failedPeriods;
  }
}
