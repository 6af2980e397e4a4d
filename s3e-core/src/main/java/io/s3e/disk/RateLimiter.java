package io.s3e.disk;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * A token bucket: lets so many bytes a second pass and refuses the rest, never waits. Unused bytes
 * are kept for a burst of a second, or of {@value #LEAST_BURST_BYTES} bytes if that is more.
 *
 * <p>Kept as one number, the time at which the bucket would be full again: a request moves it
 * onward by what it costs, and is refused if that led further than a whole bucket beyond now. Any
 * thread, lock-free.
 */
final class RateLimiter {
  /** Blocks of memory come in bursts of some MiB; a slow rate must let one of them through. */
  private static final long LEAST_BURST_BYTES = 8L << 20;

  private static final long SECOND_NANOS = 1_000_000_000L;

  private final long bytesPerSecond;
  private final long burstNanos;
  private final LongSupplier nanoClock;
  private final AtomicLong fullAt;

  /**
   * @param bytesPerSecond 0 for no limit
   * @param nanoClock time in ns, as {@link System#nanoTime}
   */
  RateLimiter(long bytesPerSecond, LongSupplier nanoClock) {
    this.bytesPerSecond = bytesPerSecond;
    this.nanoClock = nanoClock;
    this.burstNanos = bytesPerSecond == 0 ? 0 : Math.max(SECOND_NANOS, nanosFor(LEAST_BURST_BYTES));
    this.fullAt = new AtomicLong(nanoClock.getAsLong());
  }

  /** Lets {@code bytes} pass, or refuses all of them and takes nothing. */
  boolean tryAcquire(long bytes) {
    if (bytesPerSecond == 0) {
      return true;
    }
    long now = nanoClock.getAsLong();
    long cost = nanosFor(bytes);
    while (true) {
      long full = fullAt.get();
      // By differences: the clock may start anywhere and pass Long.MAX_VALUE.
      long missing = Math.max(0, full - now);
      if (missing > burstNanos - cost) {
        return false;
      }
      if (fullAt.compareAndSet(full, now + missing + cost)) {
        return true;
      }
    }
  }

  private long nanosFor(long bytes) {
    return (long) Math.ceil((double) bytes * SECOND_NANOS / bytesPerSecond);
  }
}
