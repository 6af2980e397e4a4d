// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import java.util.concurrent.TimeUnit;

/**
 * A timetable: when each chunk may have arrived over a link of a given bandwidth. Pure arithmetic
 * over a clock that the caller passes in; one thread at a time.
 *
 * <p>A chunk is due when its <em>last</em> byte would have arrived, so a body of n bytes takes n
 * divided by the bandwidth however it is cut. A sender that fell behind (an oversleep, a reader
 * that let its window fill) may catch up, but by no more than the timetable allows.
 */
final class Pacer {

  private final long bytesPerSecond;
  private final long catchUpNanos;
  private long dueNanos;

  /**
   * @param bytesPerSecond bandwidth; 0 means that everything is due at once
   * @param catchUpNanos how far behind its timetable a sender may be without losing its place
   * @param startNanos when the first byte may leave
   */
  Pacer(long bytesPerSecond, long catchUpNanos, long startNanos) {
    this.bytesPerSecond = bytesPerSecond;
    this.catchUpNanos = catchUpNanos;
    this.dueNanos = startNanos;
  }

  /**
   * Books the next {@code bytes}.
   *
   * @param nowNanos the clock, of the same origin as the start
   * @return how long to wait before sending them, in nanoseconds; 0 or less means now
   */
  long delayBefore(long bytes, long nowNanos) {
    if (bytesPerSecond == 0) {
      return 0;
    }
    long earliestStart = nowNanos - catchUpNanos;
    if (dueNanos - earliestStart < 0) {
      dueNanos = earliestStart;
    }
    dueNanos += bytes * TimeUnit.SECONDS.toNanos(1) / bytesPerSecond;
    return dueNanos - nowNanos;
  }
}
