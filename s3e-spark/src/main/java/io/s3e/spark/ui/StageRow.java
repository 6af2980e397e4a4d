// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.ui;

import io.s3e.spark.stages.ReadCounts;
import io.s3e.spark.stages.StageAttempt;
import java.util.Optional;

/**
 * A stage on the page.
 *
 * @param facts empty if Spark has forgotten the stage ({@code spark.ui.retainedStages})
 * @param counts empty for a stage that runs and has not reported
 */
record StageRow(StageAttempt stage, Optional<StageFacts> facts, Optional<ReadCounts> counts) {}
