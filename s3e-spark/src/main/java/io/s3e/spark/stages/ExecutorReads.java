// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.stages;

/**
 * What the tasks of one executor read.
 *
 * @param executorId Spark's; {@code driver} in local mode
 * @param host the executor's, as Spark names it
 */
public record ExecutorReads(String executorId, String host, ReadCounts counts) {
  ExecutorReads plus(ReadCounts more) {
    return new ExecutorReads(executorId, host, counts.plus(more));
  }
}
