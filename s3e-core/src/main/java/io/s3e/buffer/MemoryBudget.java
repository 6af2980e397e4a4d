package io.s3e.buffer;

import java.util.concurrent.atomic.AtomicLong;

/**
 * A hard limit in bytes over everything that holds object data outside the heap: arenas of pools
 * and the memory that clients own. Whoever wants such memory reserves it here first, and gives the
 * reservation back after the memory is gone, so that {@link #reserved()} is never less than what is
 * really held.
 *
 * <p>All of the state is one number, {@code 0 <= reserved <= limit}, moved only by compare-and-set.
 * Any thread may call anything; no call blocks, and losing a race costs one more try.
 */
public final class MemoryBudget {
  private final long limit;
  private final AtomicLong reserved = new AtomicLong();

  /**
   * @param limitBytes the most that may be reserved at a time, at least 1
   * @throws IllegalArgumentException if {@code limitBytes} is not positive
   */
  public MemoryBudget(long limitBytes) {
    if (limitBytes < 1) {
      throw new IllegalArgumentException("limit " + limitBytes + " is not at least 1 byte");
    }
    this.limit = limitBytes;
  }

  /**
   * Reserves all of {@code bytes} or nothing.
   *
   * @param bytes 0 or more
   * @return whether the bytes are now reserved; {@code false} if the limit does not leave that much
   * @throws IllegalArgumentException if {@code bytes} is negative
   */
  public boolean tryReserve(long bytes) {
    requireNotNegative(bytes);
    while (true) {
      long current = reserved.get();
      if (bytes > limit - current) {
        return false;
      }
      if (reserved.compareAndSet(current, current + bytes)) {
        return true;
      }
    }
  }

  /**
   * Gives back what {@link #tryReserve} granted.
   *
   * @param bytes 0 or more, at most what is reserved
   * @throws IllegalArgumentException if {@code bytes} is negative
   * @throws IllegalStateException if less than {@code bytes} is reserved; nothing changes then
   */
  public void release(long bytes) {
    requireNotNegative(bytes);
    while (true) {
      long current = reserved.get();
      if (bytes > current) {
        throw new IllegalStateException(
            "release of " + bytes + " bytes while only " + current + " are reserved");
      }
      if (reserved.compareAndSet(current, current - bytes)) {
        return;
      }
    }
  }

  /** The most that may be reserved at a time, in bytes. */
  public long limit() {
    return limit;
  }

  /** Bytes reserved now. */
  public long reserved() {
    return reserved.get();
  }

  /** Bytes that could be reserved now. */
  public long available() {
    return limit - reserved.get();
  }

  @Override
  public String toString() {
    return "budget of " + limit + " bytes, " + reserved.get() + " reserved";
  }

  private static void requireNotNegative(long bytes) {
    if (bytes < 0) {
      throw new IllegalArgumentException(bytes + " bytes is negative");
    }
  }
}
