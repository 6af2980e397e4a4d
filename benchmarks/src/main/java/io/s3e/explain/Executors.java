// SPDX-License-Identifier: Apache-2.0
package io.s3e.explain;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The executors of an application, each with the time in which it was there. {@link
 * ApplicationReader} fills it, one thread; nobody changes it afterwards.
 */
final class Executors {
  /** The end of an executor of which the log tells none. */
  static final long STILL_THERE = Long.MAX_VALUE;

  /**
   * One of them.
   *
   * @param added in ms since 1970, as {@code removed}
   */
  private record Executor(int cores, long added, long removed) {
    long millisWithin(long from, long until) {
      return Math.max(0, Math.min(removed, until) - Math.max(added, from));
    }

    int slots(int cpusOfTask) {
      return cores / cpusOfTask;
    }
  }

  /** By their ids. */
  private final Map<String, Executor> there = new HashMap<>();

  private final List<Executor> gone = new ArrayList<>();

  void added(String id, int cores, long time) {
    there.put(id, new Executor(cores, time, STILL_THERE));
  }

  void removed(String id, long time) {
    Executor executor = there.remove(id);
    if (executor != null) {
      gone.add(new Executor(executor.cores(), executor.added(), time));
    }
  }

  private Stream<Executor> all() {
    return Stream.concat(gone.stream(), there.values().stream());
  }

  boolean isEmpty() {
    return gone.isEmpty() && there.isEmpty();
  }

  /** The most slots that were there at once. */
  int mostSlots(int cpusOfTask) {
    Map<Long, Integer> changes = new TreeMap<>();
    all()
        .forEach(
            executor -> {
              changes.merge(executor.added(), executor.slots(cpusOfTask), Integer::sum);
              changes.merge(executor.removed(), -executor.slots(cpusOfTask), Integer::sum);
            });
    int most = 0;
    int slots = 0;
    for (int change : changes.values()) {
      slots += change;
      most = Math.max(most, slots);
    }
    return most;
  }

  /** The slots of the largest executor. */
  int mostSlotsOfOne(int cpusOfTask) {
    return all().mapToInt(executor -> executor.slots(cpusOfTask)).max().orElse(1);
  }

  /** The time of all slots that were there, within a time. */
  long slotMillis(long from, long until, int cpusOfTask) {
    return all()
        .mapToLong(executor -> executor.slots(cpusOfTask) * executor.millisWithin(from, until))
        .sum();
  }
}
