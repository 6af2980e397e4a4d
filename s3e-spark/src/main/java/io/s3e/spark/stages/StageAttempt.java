// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.stages;

import java.io.Serializable;

/**
 * One attempt at a stage.
 *
 * @param stageId Spark's, within the application
 * @param attempt Spark's number of the attempt, from 0
 */
public record StageAttempt(int stageId, int attempt) implements Serializable {
  private static final long serialVersionUID = 1;
}
