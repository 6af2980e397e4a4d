// SPDX-License-Identifier: Apache-2.0
package org.apache.spark;

/** In the place of Spark's, as far as S3E asks it: the task of the thread that began one. */
public class TaskContext {
  private static final ThreadLocal<TaskContext> CURRENT = new ThreadLocal<>();

  private final String path;
  private final long end;
  private volatile boolean killed;

  private TaskContext(String path, long end) {
    this.path = path;
    this.end = end;
  }

  /** The thread is task 42 of stage 7, whose split is a file up to {@code end}. */
  public static TaskContext begin(String path, long end) {
    TaskContext begun = new TaskContext(path, end);
    CURRENT.set(begun);
    return begun;
  }

  /** The thread is no task any more. */
  public static void end() {
    CURRENT.remove();
  }

  public static TaskContext get() {
    return CURRENT.get();
  }

  public void kill() {
    killed = true;
  }

  public boolean isInterrupted() {
    return killed;
  }

  public long taskAttemptId() {
    return 42;
  }

  public int stageId() {
    return 7;
  }

  public String path() {
    return path;
  }

  public long splitEnd() {
    return end;
  }
}
