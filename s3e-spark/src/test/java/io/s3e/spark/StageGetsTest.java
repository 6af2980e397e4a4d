// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.s3e.spark.stages.GetsOfReason;
import io.s3e.spark.stages.SparkListenerS3EStage;
import io.s3e.testing.Slow;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the GETs of a stage were for, in its event; where nothing is fetched ahead, all of them. */
@Tag("spark")
@Slow
class StageGetsTest extends SparkOnServer {
  @TempDir Path other;

  private SparkSession.Builder settings(LocalSpark spark) {
    return spark
        .builder()
        .config("spark.s3e.prefetch.enabled", "false")
        .config("spark.s3e.cache.mode", "memory")
        .config("spark.sql.files.openCostInBytes", "0")
        .config("spark.sql.files.minPartitionNum", "1");
  }

  private static List<SparkListenerS3EStage> read(SparkSession session) throws Exception {
    List<SparkListenerS3EStage> events = stagesOf(session);
    session.range(0, 50_000, 1, 4).write().mode("overwrite").parquet(LocalSpark.path("gets"));
    session.read().parquet(LocalSpark.path("gets")).selectExpr("sum(id)").collectAsList();
    session.stop();
    return events;
  }

  @Test
  void theGetsOfAStageAreToldByReason() throws Exception {
    LocalSpark spark = new LocalSpark(server, directory);
    // Of a second application in this JVM, whose tasks have the names of the first one's.
    assertThat(read(settings(new LocalSpark(server, other)).getOrCreate())).isNotEmpty();
    List<SparkListenerS3EStage> events = read(settings(spark).getOrCreate());

    assertThat(events).isNotEmpty();
    for (SparkListenerS3EStage event : events) {
      long gets = event.gets().reasons().stream().mapToLong(GetsOfReason::gets).sum();
      long received = event.gets().reasons().stream().mapToLong(GetsOfReason::received).sum();
      assertThat(gets).isPositive().isEqualTo(event.reads().total().gets());
      assertThat(received).isEqualTo(event.reads().total().bytesFromS3());
      assertThat(event.gets().slowest())
          .isNotEmpty()
          .allSatisfy(
              get -> {
                assertThat(get.label()).startsWith("stage " + event.stageId() + ", task ");
                assertThat(get.key()).startsWith("gets/");
                assertThat(get.state()).as("its client may say so later").isIn("DONE", "ANSWERED");
                assertThat(get.answeredMillis()).isPositive();
              });
    }
    List<JsonNode> logged = spark.logged(SparkListenerS3EStage.class.getName());
    assertThat(logged).hasSameSizeAs(events);
    assertThat(logged.get(0).path("gets").path("reasons").path(0).path("reason").asText())
        .isEqualTo("DEMAND");
  }
}
