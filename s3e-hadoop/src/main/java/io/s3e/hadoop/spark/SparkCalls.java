// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.spark;

import io.s3e.block.ByteRange;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.apache.hadoop.fs.Path;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Spark's methods that are called: of {@code TaskContext}, and of {@code InputFileBlockHolder}, in
 * which Spark notes for each thread what its task reads. They have been there since Spark 2.2. Any
 * thread.
 */
final class SparkCalls {
  private static final Logger LOG = LoggerFactory.getLogger(SparkCalls.class);

  private static final String TASK_CONTEXT = "org.apache.spark.TaskContext";
  private static final String INPUT_FILE = "org.apache.spark.rdd.InputFileBlockHolder";
  private static final String UTF8_STRING = "org.apache.spark.unsafe.types.UTF8String";

  private final MethodHandle taskOfThread;
  private final MethodHandle isInterrupted;
  private final MethodHandle taskAttemptId;
  private final MethodHandle stageId;
  private final MethodHandle inputPath;
  private final MethodHandle inputStart;
  private final MethodHandle inputLength;

  /**
   * @param task Spark's TaskContext
   * @param input Spark's InputFileBlockHolder
   * @param text the type of its path
   */
  SparkCalls(Class<?> task, Class<?> input, Class<?> text) throws ReflectiveOperationException {
    MethodHandles.Lookup lookup = MethodHandles.publicLookup();
    MethodType ofTask = MethodType.methodType(task);
    taskOfThread =
        lookup.findStatic(task, "get", ofTask).asType(MethodType.methodType(Object.class));
    isInterrupted = ofTask(lookup, task, "isInterrupted", boolean.class);
    taskAttemptId = ofTask(lookup, task, "taskAttemptId", long.class);
    stageId = ofTask(lookup, task, "stageId", int.class);
    inputPath =
        lookup
            .findStatic(input, "getInputFilePath", MethodType.methodType(text))
            .asType(MethodType.methodType(Object.class));
    inputStart = lookup.findStatic(input, "getStartOffset", MethodType.methodType(long.class));
    inputLength = lookup.findStatic(input, "getLength", MethodType.methodType(long.class));
  }

  private static MethodHandle ofTask(
      MethodHandles.Lookup lookup, Class<?> task, String name, Class<?> type)
      throws ReflectiveOperationException {
    return lookup
        .findVirtual(task, name, MethodType.methodType(type))
        .asType(MethodType.methodType(type, Object.class));
  }

  /** Null if the loader has no Spark, or one that has none of these methods. */
  static @Nullable SparkCalls find(ClassLoader loader) {
    try {
      return new SparkCalls(
          Class.forName(TASK_CONTEXT, false, loader),
          Class.forName(INPUT_FILE, false, loader),
          Class.forName(UTF8_STRING, false, loader));
    } catch (ReflectiveOperationException | LinkageError e) {
      LOG.debug("No Spark to ask", e);
      return null;
    }
  }

  /** The split of the thread's task, if it is of that file. Waits for nothing. */
  // A method handle may throw anything; what Spark cannot tell is not known.
  @SuppressWarnings("IllegalCatch")
  @Nullable ByteRange splitOf(Path path) {
    try {
      String input = String.valueOf((Object) inputPath.invokeExact());
      if (!isOf(path, input)) {
        return null;
      }
      long start = (long) inputStart.invokeExact();
      long length = (long) inputLength.invokeExact();
      boolean isSplit = start >= 0 && length > 0 && length <= Long.MAX_VALUE - start;
      return isSplit ? ByteRange.ofLength(start, length) : null;
    } catch (VirtualMachineError e) {
      throw e;
    } catch (Throwable e) {
      LOG.debug("Spark does not tell its split", e);
      return null;
    }
  }

  /** Spark notes the path as it is, or as a URI (since 3.4). */
  private static boolean isOf(Path path, String input) {
    return input.equals(path.toString()) || input.equals(path.toUri().toString());
  }

  /** The id of the thread's task attempt; null if there is none. */
  @Nullable Long id() {
    return ask(task -> (Long) (long) taskAttemptId.invokeExact(task));
  }

  /** The thread's task and its stage, in words; null if there is none. */
  @Nullable String label() {
    return ask(
        task ->
            SparkTask.label(
                (int) stageId.invokeExact(task), (long) taskAttemptId.invokeExact(task)));
  }

  /** Why the thread's task is to end; null if it goes on, or there is none. */
  @Nullable String killed() {
    return ask(
        task ->
            (boolean) isInterrupted.invokeExact(task)
                ? "Spark has killed task "
                    + (long) taskAttemptId.invokeExact(task)
                    + " of stage "
                    + (int) stageId.invokeExact(task)
                : null);
  }

  /** A question about a task. */
  private interface Question<T> {
    @Nullable T of(Object task) throws Throwable;
  }

  /** The answer for the thread's task; null if there is none. */
  @SuppressWarnings("IllegalCatch")
  private <T> @Nullable T ask(Question<T> question) {
    try {
      Object task = (Object) taskOfThread.invokeExact();
      return task == null ? null : question.of(task);
    } catch (Throwable e) {
      LOG.debug("Spark does not tell of its task", e);
      return null;
    }
  }
}
