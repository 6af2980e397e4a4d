// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.spark;

import io.s3e.block.ByteRange;
import io.s3e.columnar.SplitSource;
import java.util.Locale;
import org.apache.hadoop.fs.Path;
import org.jspecify.annotations.Nullable;

/**
 * The Spark task that the calling thread runs: the split that it reads, and whether it has been
 * killed. Without Spark, and on threads that run no task, there is nothing to tell. Any thread;
 * each answer is of the calling thread.
 */
public final class SparkTask {
  private static final @Nullable SparkCalls CALLS =
      SparkCalls.find(SparkTask.class.getClassLoader());

  private SparkTask() {}

  /** Whether this JVM has Spark's classes. */
  public static boolean isPossible() {
    return CALLS != null;
  }

  /**
   * The bytes of the file that the task has been given; null if it reads another file at present,
   * or none, and for columnar files: their readers take row groups whole, which end behind the
   * split, and {@link #splits} asks for it in time.
   */
  public static @Nullable ByteRange splitOf(Path path) {
    SparkCalls calls = CALLS;
    return calls == null || isColumnar(path) ? null : calls.splitOf(path);
  }

  /**
   * Asks for the split of that file on the thread that reads columns of it first, whatever its
   * name: by then the task has noted it, which DSv2 of Spark 3.5 does after the file was opened.
   */
  public static SplitSource splits(Path path) {
    SparkCalls calls = CALLS;
    return calls == null ? SplitSource.UNKNOWN : () -> calls.splitOf(path);
  }

  private static boolean isColumnar(Path path) {
    String name = path.getName().toLowerCase(Locale.ROOT);
    return name.endsWith(".parquet") || name.endsWith(".orc");
  }

  /** The id of the task attempt, which no other of the application has; null if there is none. */
  public static @Nullable Long id() {
    SparkCalls calls = CALLS;
    return calls == null ? null : calls.id();
  }

  /** The task and its stage, as records of GETs name them; null if there is none. */
  public static @Nullable String label() {
    SparkCalls calls = CALLS;
    return calls == null ? null : calls.label();
  }

  /**
   * How records of GETs name a task.
   *
   * @param taskAttempt Spark's id of the attempt, which is one's own in an application
   */
  public static String label(int stage, long taskAttempt) {
    return "stage " + stage + ", task " + taskAttempt;
  }

  /** Why the task is to end, in words that name it; null if it goes on, or there is none. */
  public static @Nullable String killed() {
    SparkCalls calls = CALLS;
    return calls == null ? null : calls.killed();
  }
}
