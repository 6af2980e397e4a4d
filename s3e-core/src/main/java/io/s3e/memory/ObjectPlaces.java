package io.s3e.memory;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The places of a {@link Lane} by object.
 *
 * <p><b>Half of the lane</b> is what an object has at most while another one has any: readers of
 * one that hangs leave the other half to the rest, and a reader that is alone has the whole lane.
 * Half is also what all <i>newcomers</i> have together, objects that the store has not answered for
 * lately, while as many GETs are overdue as may be: something hangs then, and more likely what has
 * never answered than what just has. At other times, and where nothing has ever answered, a
 * newcomer is an object like others.
 *
 * <p>Any thread. An object that has no place is not remembered, but for whether it has answered. A
 * place is counted here before it is taken in the lane, so that none of the threads that come at
 * once goes beyond the half unseen. {@code newcomers} is the sum of the counts of all held objects
 * that are newcomers; both change under the lock of the object's entry.
 */
final class ObjectPlaces {
  /** Then all are forgotten, and are newcomers until they answer again. */
  private static final int MOST_REMEMBERED = 4_096;

  private final Lane lane;
  private final ConcurrentHashMap<Object, Held> held = new ConcurrentHashMap<>();
  private final AtomicInteger newcomers = new AtomicInteger();

  /** Objects that have answered. */
  private final Set<Object> known = ConcurrentHashMap.newKeySet();

  private record Held(int count, boolean isNewcomer) {}

  ObjectPlaces(Lane lane) {
    this.lane = lane;
  }

  /** Counts one place more; false if that would be too many while others want some. */
  boolean tryEnter(Object object) {
    Held mine =
        held.compute(
            object,
            (key, before) -> {
              boolean isNewcomer = before == null ? !isKnown(object) : before.isNewcomer();
              newcomers.addAndGet(isNewcomer ? 1 : 0);
              return new Held(before == null ? 1 : before.count() + 1, isNewcomer);
            });
    if (isTooMany(mine.count()) || (mine.isNewcomer() && areTooMany(newcomers.get()))) {
      leave(object);
      return false;
    }
    return true;
  }

  void leave(Object object) {
    held.computeIfPresent(
        object,
        (key, before) -> {
          newcomers.addAndGet(before.isNewcomer() ? -1 : 0);
          return before.count() == 1 ? null : new Held(before.count() - 1, before.isNewcomer());
        });
  }

  /** The store has answered for the object. */
  void answered(Object object) {
    if (isKnown(object)) {
      return;
    }
    if (known.size() >= MOST_REMEMBERED) {
      known.clear();
    }
    known.add(object);
    held.computeIfPresent(
        object,
        (key, before) -> {
          newcomers.addAndGet(before.isNewcomer() ? -before.count() : 0);
          return new Held(before.count(), false);
        });
  }

  private boolean isKnown(Object object) {
    return known.contains(object);
  }

  /** Whether {@link #tryEnter} would refuse the object now. */
  boolean isAtHalf(Object object) {
    Held mine = held.get(object);
    boolean isNewcomer = mine == null ? !isKnown(object) : mine.isNewcomer();
    return isTooMany(mine == null ? 1 : mine.count() + 1)
        || (isNewcomer && areTooMany(newcomers.get() + 1));
  }

  private boolean isTooMany(int wanted) {
    return 2 * wanted > lane.capacity() && lane.held() >= wanted;
  }

  private boolean areTooMany(int wanted) {
    return 2 * wanted > lane.capacity() && lane.isFullOfOverdue() && !known.isEmpty();
  }

  int objects() {
    return held.size();
  }

  int newcomers() {
    return newcomers.get();
  }
}
