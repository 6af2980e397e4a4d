package io.s3e.bench.server;

import java.util.concurrent.TimeUnit;

/**
 * The timetable of one response body: when each chunk may have arrived on a link of a given
 * bandwidth. Pure arithmetic over a clock that the caller passes in; one thread.
 *
 * <p>A chunk is due when its <em>last</em> byte would have arrived, so a body of n bytes takes n
 * divided by the bandwidth however it is cut. A sender that fell behind (a slow reader, an
 * oversleep) may catch up by at most {@link #CATCH_UP_NANOS}: enough to make up for the scheduler,
 * too little for a burst.
 */
final class Pacer {

  /** Two chunks of 256 KiB at 60 MB/s: an oversleep is made up, a pause of the reader is not. */
  static final long CATCH_UP_NANOS = TimeUnit.MILLISECONDS.toNanos(9);

  private final long bytesPerSecond;
  private long dueNanos;

  /**
   * @param bytesPerSecond bandwidth; 0 means that everything is due at once
   * @param startNanos when the first byte may leave
   */
  Pacer(long bytesPerSecond, long startNanos) {
    this.bytesPerSecond = bytesPerSecond;
    this.dueNanos = startNanos;
  }

  /**
   * Books the next {@code bytes} of the body.
   *
   * @param nowNanos the clock, of the same origin as the start
   * @return how long to wait before sending them, in nanoseconds; 0 or less means now
   */
  long delayBefore(long bytes, long nowNanos) {
    if (bytesPerSecond == 0) {
      return 0;
    }
    long earliestStart = nowNanos - CATCH_UP_NANOS;
    if (dueNanos - earliestStart < 0) {
      dueNanos = earliestStart;
    }
    dueNanos += bytes * TimeUnit.SECONDS.toNanos(1) / bytesPerSecond;
    return dueNanos - nowNanos;
  }
}
