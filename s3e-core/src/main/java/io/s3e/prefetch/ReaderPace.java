// SPDX-License-Identifier: Apache-2.0
package io.s3e.prefetch;

/** How fast those are who read files of one place in order: the latest tells. Any thread. */
public final class ReaderPace {
  /** Half of what S3 gives one connection, which so feeds the reader twice over. */
  private static final double SLOW_BYTES_A_NANO = 0.03;

  private volatile boolean isSlow;

  public boolean isSlow() {
    return isSlow;
  }

  public void took(long bytes, long nanos) {
    isSlow = bytes < SLOW_BYTES_A_NANO * nanos;
  }
}
