// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.stages;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.s3e.hadoop.cost.Bill;
import io.s3e.hadoop.cost.Prices;
import java.util.List;
import java.util.Objects;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.jspecify.annotations.Nullable;

/**
 * What the tasks of a stage read, posted when the stage has ended and its tasks have reported.
 * Tasks that report later (speculative and killed ones) are in a second event of the same stage, or
 * a third: a stage is the sum of its events, and no task is in two.
 *
 * <p>Spark writes it to event logs as JSON and makes it again from them, in this version of S3E or
 * another: fields are added and never change their meaning. {@link #format} says by which version
 * of these rules it was written.
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public final class SparkListenerS3EStage implements SparkListenerEvent {
  /** The version of the fields that this class writes. */
  public static final int FORMAT = 1;

  private final int format;
  private final int stageId;
  private final int stageAttemptId;
  private final List<ExecutorReads> executors;
  private final Bill bill;
  private final GetSummary gets;

  @JsonCreator
  SparkListenerS3EStage(
      @JsonProperty("format") int format,
      @JsonProperty("stageId") int stageId,
      @JsonProperty("stageAttemptId") int stageAttemptId,
      @JsonProperty("executors") @Nullable List<ExecutorReads> executors,
      @JsonProperty("bill") @Nullable Bill bill,
      @JsonProperty("gets") @Nullable GetSummary gets) {
    this.format = format;
    this.stageId = stageId;
    this.stageAttemptId = stageAttemptId;
    this.executors = executors == null ? List.of() : List.copyOf(executors);
    this.bill = bill == null ? Bill.NONE : bill;
    this.gets = gets == null ? GetSummary.NONE : gets;
  }

  /**
   * @param prices of the application
   */
  public SparkListenerS3EStage(StageReads reads, Prices prices) {
    this(
        FORMAT,
        reads.stage().stageId(),
        reads.stage().attempt(),
        reads.executors(),
        reads.total().bill(prices),
        reads.gets());
  }

  @JsonProperty
  public int format() {
    return format;
  }

  @JsonProperty
  public int stageId() {
    return stageId;
  }

  @JsonProperty
  public int stageAttemptId() {
    return stageAttemptId;
  }

  @JsonProperty
  public List<ExecutorReads> executors() {
    return executors;
  }

  /** What it cost by estimate, at the application's prices; nothing in logs of older versions. */
  @JsonProperty
  public Bill bill() {
    return bill;
  }

  /**
   * What the GETs were for; nothing in logs of older versions. By its name, since Jackson takes the
   * method for one that gets "s".
   */
  @JsonProperty("gets")
  public GetSummary gets() {
    return gets;
  }

  /** The same without Spark's type. */
  public StageReads reads() {
    return new StageReads(new StageAttempt(stageId, stageAttemptId), executors, gets);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof SparkListenerS3EStage that
        && format == that.format
        && bill.equals(that.bill)
        && reads().equals(that.reads());
  }

  @Override
  public int hashCode() {
    return Objects.hash(format, stageId, stageAttemptId, executors, bill, gets);
  }

  @Override
  public String toString() {
    return "SparkListenerS3EStage" + reads();
  }
}
