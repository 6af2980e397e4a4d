// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.ui;

import io.s3e.hadoop.cost.Prices;
import io.s3e.spark.stages.ExecutorReads;
import io.s3e.spark.stages.GetSummary;
import io.s3e.spark.stages.ReadCounts;
import io.s3e.spark.stages.StageReads;
import java.util.List;

/**
 * What the page shows at one moment.
 *
 * @param total the whole application, stages among it that are not in {@code stages} any more
 * @param stages the latest first
 * @param reads of the stages that have reported, the latest first
 * @param otherGets of the stages before those
 * @param prices of the application
 */
record ReadsView(
    ReadCounts total,
    List<StageRow> stages,
    List<ExecutorReads> executors,
    List<StageReads> reads,
    GetSummary otherGets,
    Prices prices) {
  ReadsView {
    stages = List.copyOf(stages);
    reads = List.copyOf(reads);
    executors = List.copyOf(executors);
  }
}
