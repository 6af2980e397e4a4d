// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.stages;

import java.io.Serializable;

/**
 * An executor's report to the driver: what a task read, or what came of the streams of tasks that
 * have ended.
 *
 * @param counts those of one task, or of what came later, with no task
 * @param gets what the task's GETs were for; nothing in a report of what came later
 */
public record TaskReads(
    StageAttempt stage, String executorId, String host, ReadCounts counts, GetSummary gets)
    implements Serializable {
  private static final long serialVersionUID = 1;
}
