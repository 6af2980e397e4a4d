// SPDX-License-Identifier: Apache-2.0
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
 * <p><b>Overdue.</b> A GET that hangs may give its place to others before it is over, as long as
 * the client carries one more: {@code overdue} counts those, and bounds what is under way by {@code
 * capacity + mostOverdue}.
 *
 * <p>Lock-free; {@code 0 <= free <= capacity} and {@code 0 <= overdue <= mostOverdue}.
 */
final class Lane {
  private static final int RESERVE_SHARE = 8;

  final int capacity;
  private final int mostOverdue;
  private final AtomicInteger free;
  private final AtomicInteger overdue = new AtomicInteger();

  Lane(int capacity, int mostOverdue) {
    this.capacity = capacity;
    this.mostOverdue = mostOverdue;
    this.free = new AtomicInteger(capacity);
  }

  /** The part of {@code capacity} places that is kept for those who have little. */
  static int reserve(int capacity) {
    return capacity <= 1 ? 0 : Math.max(1, capacity / RESERVE_SHARE);
  }

  int held() {
    return capacity - free.get();
  }

  int forGuesses() {
    return capacity - reserve(capacity);
  }

  /** Whether a guess of that tenant could enter once {@code more} places have become free. */
  boolean hasRoomAhead(long more, int held, boolean isShared) {
    return free.get() + more > kept(Purpose.GUESS, held, isShared);
  }

  /** Enters if more than {@code kept} places are free. */
  boolean tryEnter(int kept) {
    for (int now = free.get(); now > kept; now = free.get()) {
      if (free.compareAndSet(now, now - 1)) {
        return true;
      }
    }
    return false;
  }

  void leave() {
    int now = free.incrementAndGet();
    if (now > capacity) {
      throw new IllegalStateException("left a lane of " + capacity + " more often than entered");
    }
  }

  /** Whether any GET may be under way without a place. */
  boolean hasOverdue() {
    return mostOverdue > 0;
  }

  /** Whether as many GETs are under way without a place as may be. */
  boolean isFullOfOverdue() {
    return mostOverdue > 0 && overdue.get() >= mostOverdue;
  }

  /** One GET more may be under way without a place; false if there are as many as may be. */
  boolean tryAddOverdue() {
    return overdue.getAndUpdate(now -> Math.min(now + 1, mostOverdue)) < mostOverdue;
  }

  /** A GET is without a place no more. */
  void endOverdue() {
    if (overdue.decrementAndGet() < 0) {
      throw new IllegalStateException("more overdue GETs over than there were");
    }
  }

  /**
   * How many places are kept for others.
   *
   * @param held the tenant's places
   * @param isShared whether other tenants use the lane
   */
  int kept(Purpose purpose, int held, boolean isShared) {
    int reserve = reserve(capacity);
    return switch (purpose) {
      case DEMAND, HEDGE -> isShared && 2 * held >= capacity ? reserve : 0;
      case ASKED, GUESS -> isShared && held < reserve ? reserve / 2 : reserve;
    };
  }
}
