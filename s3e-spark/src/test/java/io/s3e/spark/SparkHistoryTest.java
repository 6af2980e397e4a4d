// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What an application leaves for its next run, beside its event log. */
@Tag("spark")
@Slow
class SparkHistoryTest extends SparkOnServer {
  private static final int FILES = 4;

  private SparkSession session(LocalSpark spark, String mode) {
    return session(spark, mode, "nightly 2026-11-26");
  }

  private static SparkSession session(LocalSpark spark, String mode, String name) {
    return spark
        .builder()
        .appName(name)
        .config("spark.s3e.history", mode)
        .config("spark.s3e.cache.mode", "memory")
        .config("spark.sql.files.openCostInBytes", "128m")
        .getOrCreate();
  }

  private static void write(SparkSession session) {
    session
        .range(0, 1_200_000, 1, FILES)
        .selectExpr("hash(id) AS a", "id * 31 AS b", "xxhash64(id) AS c")
        .write()
        .mode("overwrite")
        .parquet(LocalSpark.path("history/t"));
  }

  private static long sum(SparkSession session) {
    return session
        .read()
        .parquet(LocalSpark.path("history/t"))
        .selectExpr("sum(c % 1000)")
        .collectAsList()
        .get(0)
        .getLong(0);
  }

  private List<JsonNode> kept() throws IOException {
    try (Stream<Path> files =
        Files.walk(directory.resolve("events/s3e-history-" + System.getProperty("user.name")))) {
      return files
          .filter(file -> file.getFileName().toString().endsWith(".json"))
          .map(SparkHistoryTest::parsed)
          .toList();
    }
  }

  private static JsonNode parsed(Path file) {
    try {
      return new ObjectMapper().readTree(Files.readString(file)).path("history");
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void nextRunFindsWhatTheOneBeforeHasLearnt() throws Exception {
    LocalSpark spark = new LocalSpark(server, directory);
    SparkSession session = session(spark, "observe");
    write(session);
    long first = sum(session);
    session.stop();
    // A JVM of the next run has none of them.
    FileSystem.closeAll();

    assertThat(kept()).hasSize(1);
    JsonNode job = kept().get(0);
    assertThat(job.path("job").asText()).isEqualTo("nightly #");
    assertThat(job.path("runs")).hasSize(1);
    JsonNode table = job.path("tables").get(0);
    assertThat(table.path("place").asText()).isEqualTo(LocalSpark.BUCKET + "/history/t");
    assertThat(table.path("scans")).isNotEmpty();

    SparkSession next = session(spark, "on");
    assertThat(sum(next)).isEqualTo(first);
    next.stop();
    assertThat(kept()).hasSize(1);
    JsonNode runs = kept().get(0).path("runs");
    assertThat(runs).hasSize(2);
    long with = runs.get(1).path("with").path("tasks").asLong();
    long without = runs.get(1).path("without").path("tasks").asLong();
    assertThat(with + without).as("tasks that read the table").isGreaterThanOrEqualTo(FILES);
  }

  /** As in a notebook: Hadoop keeps the file system of the first one. */
  @Test
  void eachApplicationOfAProcessHasAHistoryOfItsOwn() throws Exception {
    LocalSpark spark = new LocalSpark(server, directory);
    SparkSession session = session(spark, "observe", "first of all");
    write(session);
    long first = sum(session);
    session.stop();
    SparkSession next = session(spark, "observe", "next");
    assertThat(sum(next)).isEqualTo(first);
    next.stop();

    assertThat(kept())
        .allSatisfy(job -> assertThat(job.path("tables")).hasSize(1))
        .extracting(job -> job.path("job").asText())
        .containsExactlyInAnyOrder("first of all", "next");
  }
}
