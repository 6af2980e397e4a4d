// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.ui;

import io.s3e.hadoop.cost.Prices;
import io.s3e.spark.stages.ExecutorReads;
import io.s3e.spark.stages.GetSummary;
import io.s3e.spark.stages.GetsOfReason;
import io.s3e.spark.stages.ReadCounts;
import io.s3e.spark.stages.SlowGet;
import io.s3e.spark.stages.SparkListenerS3EStage;
import io.s3e.spark.stages.StageAttempt;
import io.s3e.spark.stages.StageReads;
import java.util.List;
import java.util.stream.IntStream;

/** Reads of two executors, different in every stage. */
final class SampleReads {
  private static final long UNIT = 1 << 17;
  private static final long MILLI = 1_000_000;

  private SampleReads() {}

  /**
   * @param first id of the first stage
   * @param stages how many
   */
  static List<SparkListenerS3EStage> events(int first, int stages) {
    return IntStream.range(0, stages)
        .mapToObj(stage -> event(new StageAttempt(first + stage, 0), stage))
        .toList();
  }

  /**
   * @param variant the larger, the more comes from memory and disk
   */
  static SparkListenerS3EStage event(StageAttempt stage, int variant) {
    return new SparkListenerS3EStage(
        new StageReads(
            stage,
            List.of(
                new ExecutorReads("1", "10.0.0.1", counts(variant)),
                new ExecutorReads("2", "10.0.0.2", counts(variant + 1))),
            gets(stage.stageId(), variant)),
        Prices.LIST);
  }

  private static GetSummary gets(int stage, int variant) {
    long received = 500 * UNIT / (variant + 1);
    return new GetSummary(
        List.of(
            new GetsOfReason(
                "GROUP",
                260 / (variant + 1),
                variant,
                received,
                received * 9 / 10,
                received / 20,
                250 / (variant + 1),
                8_200 * MILLI / (variant + 1),
                (180 + 10L * variant) * MILLI),
            new GetsOfReason(
                "DEMAND", 30, 0, 30 * UNIT, 30 * UNIT, 0, 30, 980 * MILLI, 90 * MILLI)),
        List.of(
            new SlowGet(
                "1",
                "stage " + stage + ", task " + (40 + variant),
                "2026-11-25T15:02:1" + variant % 10 + ".731Z",
                "sales",
                "lineitem/part-0000" + variant % 10 + ".parquet",
                UNIT,
                9 * UNIT,
                "GROUP",
                1 + variant % 2,
                "DONE",
                180.5 + variant,
                412.25 + variant,
                8 * UNIT,
                "7B4F2C0A91D3E5F" + variant % 10,
                null)));
  }

  static ReadCounts counts(int variant) {
    long memory = variant * 90 * UNIT;
    long disk = variant * 40 * UNIT;
    long s3 = 620 * UNIT / (variant + 1);
    long wasted = variant % 3 * 4 * UNIT;
    return new ReadCounts(
        8 + variant,
        (9_000 + 700L * variant) * MILLI,
        memory + disk + s3 - wasted,
        memory,
        disk,
        s3,
        s3 / UNIT / 2,
        s3 / UNIT / 3,
        variant % 4,
        variant % 2 * 3,
        variant % 5,
        700 + 90L * variant,
        40L * variant,
        60 / (variant + 1),
        2_400 * MILLI / (variant + 1),
        s3 * 2 / 3,
        wasted,
        8 + variant,
        (4_000 + 300L * variant) * MILLI);
  }
}
