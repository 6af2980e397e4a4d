// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.spark.job;

import java.io.Serializable;

/**
 * How a step went. Steps print it as JSON, the harness reads it.
 *
 * @param step its line
 * @param rows rows of its result
 * @param digest of them
 * @param wallNanos from its start to its last row
 * @param cpuNanos processor time of the driver's process and of executors
 * @param tasks what Spark says of its tasks
 * @param reads what its tasks did to streams; zeros where the file system is not a timed one
 */
public record StepResult(
    String step, int rows, String digest, long wallNanos, long cpuNanos, Tasks tasks, Reads reads) {

  /**
   * Sums over tasks: the columns of Spark's UI.
   *
   * @param number tasks that ended
   * @param runMillis time they ran
   * @param cpuNanos processor time of their threads
   * @param inputBytes the column Input
   * @param inputRecords records that they read
   * @param outputBytes the column Output
   */
  public record Tasks(
      long number,
      long runMillis,
      long cpuNanos,
      long inputBytes,
      long inputRecords,
      long outputBytes) {
    Tasks minus(Tasks earlier) {
      return new Tasks(
          number - earlier.number,
          runMillis - earlier.runMillis,
          cpuNanos - earlier.cpuNanos,
          inputBytes - earlier.inputBytes,
          inputRecords - earlier.inputRecords,
          outputBytes - earlier.outputBytes);
    }
  }

  /**
   * Sums over the calls of tasks.
   *
   * @param opens streams opened
   * @param openNanos time in open calls
   * @param calls calls that read
   * @param nanos time in them, and in waits for ranges of vectored reads
   * @param bytes bytes that they gave
   */
  public record Reads(long opens, long openNanos, long calls, long nanos, long bytes)
      implements Serializable {
    Reads plus(Reads other) {
      return new Reads(
          opens + other.opens,
          openNanos + other.openNanos,
          calls + other.calls,
          nanos + other.nanos,
          bytes + other.bytes);
    }

    Reads minus(Reads earlier) {
      return new Reads(
          opens - earlier.opens,
          openNanos - earlier.openNanos,
          calls - earlier.calls,
          nanos - earlier.nanos,
          bytes - earlier.bytes);
    }
  }
}
