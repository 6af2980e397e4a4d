package io.s3e.memory;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * A bounded number of GETs under way, or of lent slots, of one {@link Carrier}.
 *
 * <p><b>The reserve.</b> An eighth of the lane, at least one place, is kept for those who have
 * little: guesses leave it alone, and so do the readers of a tenant that holds half of the lane or
 * more while other tenants use it as well. A tenant whose store hangs therefore never takes the
 * last places, and a guess of a tenant that holds less than the reserve may take half of it.
 *
 * <p>Lock-free; {@code 0 <= free <= capacity}.
 */
final class Lane {
  private static final int RESERVE_SHARE = 8;

  private final int capacity;
  private final AtomicInteger free;

  Lane(int capacity) {
    this.capacity = capacity;
    this.free = new AtomicInteger(capacity);
  }

  /** The part of {@code capacity} places that is kept for those who have little. */
  static int reserve(int capacity) {
    return capacity <= 1 ? 0 : Math.max(1, capacity / RESERVE_SHARE);
  }

  int capacity() {
    return capacity;
  }

  /** How many places guesses may have at once. */
  int forGuesses() {
    return capacity - reserve(capacity);
  }

  /** Whether a guess of that tenant could enter once {@code more} places have become free. */
  boolean hasRoomAhead(long more, Tenancy tenancy) {
    return free.get() + more > kept(Purpose.GUESS, tenancy);
  }

  boolean tryEnter(Purpose purpose, Tenancy tenancy) {
    int kept = kept(purpose, tenancy);
    for (; ; ) {
      int now = free.get();
      if (now <= kept) {
        return false;
      }
      if (free.compareAndSet(now, now - 1)) {
        return true;
      }
    }
  }

  void leave() {
    int now = free.incrementAndGet();
    if (now > capacity) {
      throw new IllegalStateException("left a lane of " + capacity + " more often than entered");
    }
  }

  private int kept(Purpose purpose, Tenancy tenancy) {
    int reserve = reserve(capacity);
    return switch (purpose) {
      case DEMAND -> tenancy.isShared() && 2 * tenancy.held() >= capacity ? reserve : 0;
      case ASKED, GUESS -> tenancy.isShared() && tenancy.held() < reserve ? reserve / 2 : reserve;
    };
  }

  /**
   * How one tenant stands in a lane.
   *
   * @param held places that it holds
   * @param isShared whether other tenants use the lane
   */
  record Tenancy(int held, boolean isShared) {}
}
