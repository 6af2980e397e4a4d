// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.history;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The tasks of one JVM that read tables which the history tells of: one in {@value #CONTROL_PART},
 * by chance, does so without it. Any thread.
 *
 * <p>A task is counted once, when it has ended: by itself, with the JVM, or after {@value
 * #MOST_RUNNING} others where nobody tells the ends of tasks.
 */
final class Trial {
  static final int CONTROL_PART = 16;
  static final int TOLD_PART = 8;
  private static final int MOST_RUNNING = 10_000;

  // Guarded by this.
  private final Map<Object, TaskTime> running = new LinkedHashMap<>();
  private Blocked with = Blocked.NONE;
  private Blocked without = Blocked.NONE;

  /**
   * @param task equal for each file of one task, in a JVM and in others
   */
  synchronized TaskTime of(Object task) {
    TaskTime time = running.computeIfAbsent(task, key -> new TaskTime(isControl(key)));
    if (running.size() > MOST_RUNNING) {
      Iterator<TaskTime> oldest = running.values().iterator();
      count(oldest.next());
      oldest.remove();
    }
    return time;
  }

  /** By a hash whose bits are mixed: ids of tasks in a row are no pattern. */
  static boolean isControl(Object task) {
    return mixed(task) % CONTROL_PART == 0;
  }

  /** Of the tasks of JVMs that run one each: all controls, and some of the others, by chance. */
  static boolean isTold(Object task) {
    return isControl(task) || mixed(task) / CONTROL_PART % TOLD_PART == 0;
  }

  private static long mixed(Object task) {
    long mixed = (task.hashCode() + 0x9E3779B97F4A7C15L) * 0xBF58476D1CE4E5B9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
    return mixed >>> 32;
  }

  synchronized void ended(Object task) {
    TaskTime time = running.remove(task);
    if (time != null) {
      count(time);
    }
  }

  synchronized void allEnded() {
    running.values().forEach(this::count);
    running.clear();
  }

  private void count(TaskTime time) {
    if (time.isControl) {
      without = without.plus(time.total());
    } else {
      with = with.plus(time.total());
    }
  }

  synchronized Blocked with() {
    return with;
  }

  synchronized Blocked without() {
    return without;
  }
}
