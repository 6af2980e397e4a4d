// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.stages;

import java.util.function.Consumer;

/**
 * Adds up the streams that one task opened, on whichever thread they are closed.
 *
 * <p><b>States.</b> <i>Running</i>: counts are added up; <i>ended</i>, for good: the sum has been
 * given out by {@link #end}, and what comes only now is given to {@code late} by itself. So
 * everything is counted once, and nothing is lost. Bytes from memory follow from all streams
 * together, at the end: later reports add to them and take none away, though other tasks read what
 * this one has prefetched. Any thread.
 */
final class TaskAccount implements ReadTally {
  private final StageAttempt stage;
  private final long startedMillis = System.currentTimeMillis();
  private final long startNanos;
  private final long startCpuNanos;
  private final Consumer<ReadCounts> late;

  // Guarded by this.
  private ReadCounts sum = ReadCounts.NONE;
  private boolean ended;

  /**
   * @param startNanos by {@link System#nanoTime}
   * @param startCpuNanos processor time of the task's thread by now
   * @param late given what comes after the end of the task
   */
  TaskAccount(StageAttempt stage, long startNanos, long startCpuNanos, Consumer<ReadCounts> late) {
    this.stage = stage;
    this.startNanos = startNanos;
    this.startCpuNanos = startCpuNanos;
    this.late = late;
  }

  StageAttempt stage() {
    return stage;
  }

  /** When it was made, in ms since 1970. */
  long startedMillis() {
    return startedMillis;
  }

  @Override
  public void add(ReadCounts counts) {
    ReadCounts report;
    synchronized (this) {
      long told = sum.bytesFromMemory();
      sum = sum.plus(counts);
      if (!ended) {
        return;
      }
      long fromMemory = Math.max(told, sum.withBytesFromMemory().bytesFromMemory());
      sum = sum.withBytesFromMemory(fromMemory);
      report = counts.withBytesFromMemory(fromMemory - told);
    }
    late.accept(report);
  }

  /**
   * Ends the task; called once.
   *
   * @return what its streams read that are closed, as the counts of one task
   */
  synchronized ReadCounts end(long nowNanos, long cpuNanos) {
    ended = true;
    sum = sum.withBytesFromMemory();
    return sum.plus(ReadCounts.ofTask(nowNanos - startNanos, cpuNanos - startCpuNanos));
  }
}
