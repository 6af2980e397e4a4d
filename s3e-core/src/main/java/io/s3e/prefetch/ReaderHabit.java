// SPDX-License-Identifier: Apache-2.0
package io.s3e.prefetch;

/** How those read who were told to read a place's files in order: the latest tells. Any thread. */
public final class ReaderHabit {
  /** Half of what S3 gives one connection, which so feeds the reader twice over. */
  private static final double SLOW_BYTES_A_NANO = 0.03;

  private volatile boolean isSlow;
  private volatile boolean isBrief;

  public boolean isSlow() {
    return isSlow;
  }

  public void took(long bytes, long nanos) {
    isSlow = bytes < SLOW_BYTES_A_NANO * nanos;
  }

  /** Whether it stops soon after it has begun, as for the first lines of a file. */
  public boolean isBrief() {
    return isBrief;
  }

  public void stoppedSoon(boolean value) {
    if (isBrief != value) {
      isBrief = value;
    }
  }
}
