// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.spark.conf.SparkKeys;
import io.s3e.spark.stages.ExecutorReads;
import io.s3e.spark.stages.GetSummary;
import io.s3e.spark.stages.ReadCounts;
import io.s3e.spark.stages.SparkListenerS3EStage;
import io.s3e.spark.stages.StageAttempt;
import io.s3e.spark.stages.StageReads;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.scheduler.SparkListenerExecutorAdded;
import org.apache.spark.scheduler.cluster.ExecutorInfo;
import org.junit.jupiter.api.Test;
import scala.collection.immutable.Map$;

class EndLineTest {
  private static final long MIB = 1 << 20;
  private static final long SECOND = 1_000_000_000;

  private final SparkConf spark = new SparkConf(false);

  /** Six tasks that ran 20 s, of which they waited for so long and computed 9 s. */
  private SparkListenerS3EStage stage(int id, long throttled, long waitNanos) {
    ReadCounts counts =
        new ReadCounts(
            6,
            20 * SECOND,
            450 * MIB,
            125 * MIB,
            125 * MIB,
            250 * MIB,
            750,
            600,
            0,
            throttled,
            0,
            375,
            20,
            125,
            waitNanos,
            300 * MIB,
            30 * MIB,
            6,
            9 * SECOND);
    return new SparkListenerS3EStage(
        new StageReads(
            new StageAttempt(id, 0),
            List.of(new ExecutorReads("1", "10.0.0.1", counts)),
            GetSummary.NONE),
        SparkKeys.prices(spark));
  }

  private EndLine line(long budgetBytes, SparkListenerS3EStage... stages) {
    EndLine line = new EndLine(spark, budgetBytes);
    line.onExecutorAdded(
        new SparkListenerExecutorAdded(
            1, "1", new ExecutorInfo("10.0.0.1", 4, Map$.MODULE$.<String, String>empty())));
    for (SparkListenerS3EStage stage : stages) {
      line.add(stage);
    }
    return line;
  }

  @Test
  void theWholeOfAnApplicationInOneLine() {
    EndLine line = line(0, stage(1, 0, 2 * SECOND), stage(2, 0, 2 * SECOND));
    assertThat(line.text())
        .isEqualTo(
            "S3E read 900.0 MiB: 250.0 MiB from memory, 250.0 MiB from disk, 500.0 MiB from S3 by"
                + " 1,500 GETs and 12 HEADs; 12 tasks waited 4.0 s of 40.0 s for it (10 %); by"
                + " estimate 0.000910 USD, 0.96 USD a TB: requests 0.000605 USD, processors"
                + " 0.000250 USD, blocked slots 0.000056 USD. Nothing in these counts is worth a"
                + " change.");
  }

  @Test
  void theAdviceThatSavesMostComesLast() {
    assertThat(line(0, stage(1, 100, 4 * SECOND)).text())
        .contains(" the bucket throttles: 100 of 750 GETs were refused by the store (13 %); ")
        .endsWith("; who else reads it?");
    assertThat(line(64 * MIB, stage(1, 0, 4 * SECOND)).text())
        .contains(". memory budget too small: spark.s3e.memory.budget is 64.0 MiB for 4 tasks");
    spark.set("spark.task.cpus", "2");
    assertThat(line(64 * MIB, stage(1, 0, 4 * SECOND)).text())
        .endsWith("Nothing in these counts is worth a change.");
    assertThat(line(0, stage(1, 0, 0)).text()).contains(". S3 is not the bottleneck: ");
  }

  @Test
  void itIsToldOnceAndOnlyIfSomethingWasRead() {
    try (LogLines log = new LogLines()) {
      line(0).tell();
      assertThat(log.lines()).isEmpty();
      EndLine line = line(0, stage(1, 0, 0));
      line.tell();
      line.tell();
      assertThat(log.lines()).hasSize(1).first().asString().startsWith("INFO S3E read 450.0 MiB: ");
      assertThat(log.logger(log.lines().get(0))).isEqualTo(S3EPlugin.class.getName());
    }
  }
}
