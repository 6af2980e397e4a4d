// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.stages;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.TaskContext;
import org.apache.spark.util.TaskCompletionListener;
import org.jspecify.annotations.Nullable;

/**
 * For which scan of a query's plan a running task reads, so that what it opens is counted for that
 * scan, too. A task with one scan reads for it from the scan's beginning to the task's end. One
 * with several, as in a join of buckets, reads for the scan whose rows are asked for.
 *
 * <p>Any thread; {@link #begin}, {@link #resume} and {@link #leave} are called on the thread that
 * asks for rows, of which a task has one at a time.
 */
public final class TaskScans {
  /** By id of the task attempt, which is one's own in an application. */
  private static final Map<Long, TaskScans> TASKS = new ConcurrentHashMap<>();

  private volatile @Nullable ScanAccount reading;
  private volatile boolean several;

  private TaskScans() {}

  /** Those of a task, which go with it. */
  public static TaskScans of(TaskContext task) {
    long id = task.taskAttemptId();
    TaskScans made = new TaskScans();
    TaskScans known = TASKS.putIfAbsent(id, made);
    if (known != null) {
      return known;
    }
    // Called at once if the task has ended.
    TaskCompletionListener forget = ended -> TASKS.remove(id);
    task.addTaskCompletionListener(forget);
    return made;
  }

  /** The account of the scan that a task reads for; null if it has none. */
  static @Nullable ScanAccount readingOf(long taskAttemptId) {
    TaskScans scans = TASKS.isEmpty() ? null : TASKS.get(taskAttemptId);
    return scans == null ? null : scans.reading;
  }

  /** The task begins another scan, and reads for it from now on. */
  public ScanAccount begin() {
    ScanAccount begun = new ScanAccount();
    several |= reading != null;
    reading = begun;
    return begun;
  }

  /** Whether it matters which scan is asked for rows. */
  public boolean areSeveral() {
    return several;
  }

  /**
   * The task asks this scan for rows.
   *
   * @return the one that it has read for until now, for {@link #leave}
   */
  public @Nullable ScanAccount resume(ScanAccount scan) {
    ScanAccount before = reading;
    reading = scan;
    return before;
  }

  /** The task reads for the scan again that it read for before. */
  public void leave(@Nullable ScanAccount before) {
    reading = before;
  }
}
