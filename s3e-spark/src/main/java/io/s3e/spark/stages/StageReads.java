// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.stages;

import java.util.List;

/**
 * What the tasks of a stage read.
 *
 * @param executors those that had tasks of it, in the order of their first report
 * @param gets what its GETs were for
 */
public record StageReads(StageAttempt stage, List<ExecutorReads> executors, GetSummary gets) {
  public StageReads {
    executors = List.copyOf(executors);
  }

  /** The sum over the executors. */
  public ReadCounts total() {
    return executors.stream().map(ExecutorReads::counts).reduce(ReadCounts.NONE, ReadCounts::plus);
  }
}
