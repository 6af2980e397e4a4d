// SPDX-License-Identifier: Apache-2.0
package io.s3e.memory;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

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
 * <p>Any thread. An object that has no place is not remembered, but for whether it is silent.
 */
final class ObjectPlaces {
  /** Then all are forgotten, and are silent again when their next GET is late. */
  private static final int MOST_SILENT = 4_096;

  /** Silent objects have at most one of so many places. */
  private static final int SILENT_SHARE = 4;

  private final Lane lane;

  // Guarded by this.
  /** The places of each object that has any. */
  final Map<Object, Integer> held = new HashMap<>();

  /** Objects that do not answer. */
  private final Set<Object> silent = new HashSet<>();

  /** The places of those. */
  int silentPlaces;

  ObjectPlaces(Lane lane) {
    this.lane = lane;
  }

  /** Takes a place, if the object may have one and more than {@code kept} of the lane are free. */
  synchronized boolean tryEnter(Object object, int kept) {
    if (isFull(object)) {
      return false;
    }
    // First: the heap may have no room for it, and a place that was taken by then would be lost.
    count(object, 1);
    boolean isIn = lane.tryEnter(kept);
    if (!isIn) {
      count(object, -1);
    }
    return isIn;
  }

  /** A GET for the object gives its place back. */
  synchronized void leave(Object object) {
    lane.leave();
    count(object, -1);
  }

  private void count(Object object, int more) {
    held.merge(object, more, Integer::sum);
    held.remove(object, 0);
    silentPlaces += silent.contains(object) ? more : 0;
  }

  /** A GET for the object is late for its reader. */
  synchronized void late(Object object) {
    if (silent.contains(object)) {
      return;
    }
    if (silent.size() >= MOST_SILENT) {
      silent.clear();
      silentPlaces = 0;
    }
    silent.add(object);
    silentPlaces += held.getOrDefault(object, 0);
  }

  /** The store has answered for the object. */
  synchronized void answered(Object object) {
    if (silent.remove(object)) {
      silentPlaces -= held.getOrDefault(object, 0);
    }
  }

  /** Whether GETs for the object are late and none has been answered since. */
  synchronized boolean isSilent(Object object) {
    return silent.contains(object);
  }

  /** Whether {@link #tryEnter} would refuse the object now, however much of the lane is free. */
  synchronized boolean isFull(Object object) {
    int wanted = held.getOrDefault(object, 0) + 1;
    boolean isHalf = 2 * wanted > lane.capacity && lane.held() >= wanted;
    boolean isSuspect = silent.contains(object) && lane.isFullOfOverdue();
    return isHalf || (isSuspect && SILENT_SHARE * (silentPlaces + 1) > lane.capacity);
  }
}
