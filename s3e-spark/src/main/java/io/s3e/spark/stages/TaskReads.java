package io.s3e.spark.stages;

import java.io.Serializable;

/**
 * An executor's report to the driver: what a task read, or what a stream read that it had left
 * open, and that was closed afterwards.
 *
 * @param counts those of one task; of a stream that outlived it, with no task
 */
public record TaskReads(StageAttempt stage, String executorId, String host, ReadCounts counts)
    implements Serializable {
  private static final long serialVersionUID = 1;
}
