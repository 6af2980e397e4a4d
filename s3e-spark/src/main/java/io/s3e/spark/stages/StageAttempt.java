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

  private static final double MOST_ATTEMPTS = 1000;

  /** A decimal number by which attempts stand in their order. */
  public String sortKey() {
    return Double.toString(stageId + attempt / MOST_ATTEMPTS);
  }
}
