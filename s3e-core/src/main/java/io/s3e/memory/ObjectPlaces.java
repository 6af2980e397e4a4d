// SPDX-License-Identifier: Apache-2.0
package io.s3e.memory;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

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
 * once goes beyond the half unseen. What silent objects have is counted only where it matters:
 * while as many GETs are overdue as may be.
 */
final class ObjectPlaces {
  /** Then all are forgotten, and are silent again when their next GET is late. */
  private static final int MOST_SILENT = 4_096;

  /** Silent objects have at most one of so many places. */
  private static final int SILENT_SHARE = 4;

  private final Lane lane;

  /** The places of each object that has any. */
  final ConcurrentHashMap<Object, Integer> held = new ConcurrentHashMap<>();

  /** Objects that do not answer. A plain set: the first read of a JVM loads what is named here. */
  private final Set<Object> silent = ConcurrentHashMap.newKeySet();

  ObjectPlaces(Lane lane) {
    this.lane = lane;
  }

  /** Takes a place, if the object may have one and more than {@code kept} of the lane are free. */
  boolean tryEnter(Object object, int kept) {
    boolean isFull = isTooMany(held.merge(object, 1, Integer::sum)) || isOneOfTooMany(object, 0);
    boolean isIn = !isFull && lane.tryEnter(kept);
    if (!isIn) {
      uncount(object);
    }
    return isIn;
  }

  /** A GET for the object gives its place back. */
  void leave(Object object) {
    lane.leave();
    uncount(object);
  }

  private void uncount(Object object) {
    held.computeIfPresent(object, (key, places) -> places == 1 ? null : places - 1);
  }

  /** A GET for the object is late for its reader. */
  void late(Object object) {
    if (!isSilent(object)) {
      if (silent.size() >= MOST_SILENT) {
        silent.clear();
      }
      silent.add(object);
    }
  }

  /** The store has answered for the object. */
  void answered(Object object) {
    silent.remove(object);
  }

  /** Whether GETs for the object are late and none has been answered since. */
  boolean isSilent(Object object) {
    return silent.contains(object);
  }

  /** Whether {@link #tryEnter} would refuse the object now, however much of the lane is free. */
  boolean isFull(Object object) {
    return isTooMany(held.getOrDefault(object, 0) + 1) || isOneOfTooMany(object, 1);
  }

  private boolean isTooMany(int wanted) {
    return 2 * wanted > lane.capacity && lane.held() >= wanted;
  }

  /** Whether the object is silent, and such objects with {@code more} places have too many. */
  private boolean isOneOfTooMany(Object object, int more) {
    return isSilent(object)
        && lane.isFullOfOverdue()
        && SILENT_SHARE * (silentPlaces(lane.capacity / SILENT_SHARE + 1) + more) > lane.capacity;
  }

  /** The places of the silent objects, counted until there are {@code enough}. */
  int silentPlaces(int enough) {
    int places = 0;
    for (Map.Entry<Object, Integer> each : held.entrySet()) {
      if (places >= enough) {
        break;
      }
      places += isSilent(each.getKey()) ? each.getValue() : 0;
    }
    return places;
  }
}
