package io.s3e.memory;

import java.util.concurrent.ConcurrentHashMap;

/**
 * The places of a {@link Lane} by object. An object has no more than half of them while another one
 * has any: readers of one that hangs leave the other half to the rest, and a reader that is alone
 * has the whole lane.
 *
 * <p>Any thread. An object that has no place is not remembered. A place is counted here before it
 * is taken in the lane, so that none of the threads that come at once goes beyond the half unseen.
 */
final class ObjectPlaces {
  private final Lane lane;
  private final ConcurrentHashMap<Object, Integer> held = new ConcurrentHashMap<>();

  ObjectPlaces(Lane lane) {
    this.lane = lane;
  }

  /** Counts one place more; false if the object has its half and others are there. */
  boolean tryEnter(Object object) {
    int mine = held.merge(object, 1, Integer::sum);
    if (isTooMany(mine)) {
      leave(object);
      return false;
    }
    return true;
  }

  void leave(Object object) {
    held.computeIfPresent(object, (key, count) -> count == 1 ? null : count - 1);
  }

  /** Whether {@link #tryEnter} would refuse the object now. */
  boolean isAtHalf(Object object) {
    return isTooMany(held.getOrDefault(object, 0) + 1);
  }

  private boolean isTooMany(int wanted) {
    return 2 * wanted > lane.capacity() && lane.held() >= wanted;
  }

  int objects() {
    return held.size();
  }
}
