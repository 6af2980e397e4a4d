// SPDX-License-Identifier: Apache-2.0
package io.s3e.memory;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The places of a {@link Lane} by object.
 *
 * <p><b>Half of the lane</b> is what an object has at most while another one has any: readers of
 * one that hangs leave the other half to the rest, and a reader that is alone has the whole lane.
 *
 * <p><b>Silent objects.</b> An object is silent from a GET that was late for its reader until the
 * store next answers a GET for it. While as many GETs are overdue as may be, all silent objects
 * together have a quarter of the lane: the rest is for objects that answer, and for those that were
 * never asked for, which more likely answer than not. An object that is read for the first time is
 * therefore nobody's suspect.
 *
 * <p>Any thread. An object that has no place is not remembered, but for whether it is silent. A
 * place is counted here before it is taken in the lane, so that none of the threads that come at
 * once goes beyond the half unseen. {@code silentPlaces} is the sum of the counts of the held
 * objects that are marked as silent; both change under the lock of the object's entry. A mark that
 * an answer has overtaken goes with the next answer.
 */
final class ObjectPlaces {
  /** Then all are forgotten, and are silent again when their next GET is late. */
  private static final int MOST_SILENT = 4_096;

  /** Silent objects have at most one of so many places. */
  private static final int SILENT_SHARE = 4;

  private final Lane lane;
  private final ConcurrentHashMap<Object, Held> held = new ConcurrentHashMap<>();
  private final AtomicInteger silentPlaces = new AtomicInteger();

  /** Objects that do not answer. A plain set: the first read of a JVM loads what is named here. */
  private final Set<Object> silent = ConcurrentHashMap.newKeySet();

  private record Held(int count, boolean isSilent) {}

  ObjectPlaces(Lane lane) {
    this.lane = lane;
  }

  /** Counts one place more; false if that would be too many while others want some. */
  boolean tryEnter(Object object) {
    Held mine =
        held.compute(
            object,
            (key, before) -> {
              boolean isSilent = before == null ? isSilent(object) : before.isSilent();
              silentPlaces.addAndGet(isSilent ? 1 : 0);
              return new Held(before == null ? 1 : before.count() + 1, isSilent);
            });
    if (isTooMany(mine.count()) || (mine.isSilent() && areTooMany(silentPlaces.get()))) {
      leave(object);
      return false;
    }
    return true;
  }

  void leave(Object object) {
    held.computeIfPresent(
        object,
        (key, before) -> {
          silentPlaces.addAndGet(before.isSilent() ? -1 : 0);
          return before.count() == 1 ? null : new Held(before.count() - 1, before.isSilent());
        });
  }

  /** A GET for the object is late for its reader. */
  void late(Object object) {
    if (!isSilent(object)) {
      if (silent.size() >= MOST_SILENT) {
        silent.clear();
      }
      silent.add(object);
      mark(object, true);
    }
  }

  /** The store has answered for the object. */
  void answered(Object object) {
    Held mine = held.get(object);
    if (isSilent(object) || (mine != null && mine.isSilent())) {
      silent.remove(object);
      mark(object, false);
    }
  }

  private void mark(Object object, boolean isSilent) {
    held.computeIfPresent(
        object,
        (key, before) -> {
          if (before.isSilent() != isSilent) {
            silentPlaces.addAndGet(isSilent ? before.count() : -before.count());
          }
          return new Held(before.count(), isSilent);
        });
  }

  /** Whether GETs for the object are late and none has been answered since. */
  boolean isSilent(Object object) {
    return silent.contains(object);
  }

  /** Whether {@link #tryEnter} would refuse the object now. */
  boolean isFull(Object object) {
    Held mine = held.get(object);
    boolean isSilent = mine == null ? isSilent(object) : mine.isSilent();
    return isTooMany(mine == null ? 1 : mine.count() + 1)
        || (isSilent && areTooMany(silentPlaces.get() + 1));
  }

  private boolean isTooMany(int wanted) {
    return 2 * wanted > lane.capacity() && lane.held() >= wanted;
  }

  private boolean areTooMany(int wanted) {
    return SILENT_SHARE * wanted > lane.capacity() && lane.isFullOfOverdue();
  }

  int objects() {
    return held.size();
  }

  int silentPlaces() {
    return silentPlaces.get();
  }
}
