// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.rdd;

import org.apache.spark.TaskContext;
import org.apache.spark.unsafe.types.UTF8String;

/** In the place of Spark's: the split of the thread's task. */
public final class InputFileBlockHolder {
  private InputFileBlockHolder() {}

  public static UTF8String getInputFilePath() {
    TaskContext task = TaskContext.get();
    return new UTF8String(task == null ? "" : task.path());
  }

  public static long getStartOffset() {
    return TaskContext.get() == null ? -1 : 0;
  }

  public static long getLength() {
    TaskContext task = TaskContext.get();
    return task == null ? -1 : task.splitEnd();
  }
}
