// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.spark;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.s3e.engines.Row;
import io.s3e.engines.Store;
import io.s3e.engines.Stream;
import io.s3e.engines.spark.job.StepResult;
import io.s3e.testing.ForkedJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Executors in JVMs of their own. */
@Tag("executors")
class SparkExecutorsTest {
  private static final String READ = "bytes read by S3E";

  @TempDir private static Path directory;
  private static Store store;
  private static SparkHome spark;

  @BeforeAll
  static void start() throws Exception {
    // Executors are started from it, while other tests may link the common one anew.
    spark = SparkHome.in(directory.resolve("home"), "spark-4.1");
    store = Store.start(directory);
  }

  @AfterAll
  static void stop() throws IOException {
    store.close();
  }

  /** The plugin's part of an executor in a JVM of its own reports, and begins with a history. */
  @Test
  @Tag("quick")
  void executorsApartReportWhatTheirTasksRead() throws Exception {
    String table = Store.ROOT + "reported";
    Path histories = directory.resolve("histories");
    Set<String> digests = new HashSet<>();
    for (int run = 1; run <= 2; run++) {
      Path logs = Files.createDirectories(directory.resolve("events-" + run));
      List<String> steps = new ArrayList<>();
      if (run == 1) {
        steps.add("files 4 30000 parquet " + table);
      }
      steps.add("sql select max(a), max(d) from parquet.`" + table + "`");
      SparkRun.Done done =
          SparkRun.of(spark, Stream.PLUGIN, store, "reports of executors")
              .master(SparkRun.LOCAL_CLUSTER)
              .jars(List.of(SparkHome.line()))
              .conf("spark.plugins", "io.s3e.spark.S3EPlugin")
              .conf("spark.s3e.history", "on")
              .conf("spark.s3e.history.dir", histories.toUri().toString())
              .conf("spark.s3e.cache.encryption", "true")
              .conf(
                  "spark.executor.extraJavaOptions",
                  String.join(" ", ForkedJvm.SHORT_LIVED)
                      + " "
                      + String.join(" ", ForkedJvm.UNVERIFIED))
              .conf("spark.app.name", "reported")
              .eventLog(logs)
              .run(steps);
      assertThat(done.outcome().exitCode()).isZero();
      StepResult query = done.results().get(steps.size() - 1);
      digests.add(query.digest());
      SqlNodes events = SqlNodes.of(logs);
      assertThat(events.nodes().stream().mapToLong(node -> node.values().get(READ)).sum())
          .as("bytes in the SQL tab in run %s", run)
          .isEqualTo(query.tasks().inputBytes());
      assertThat(events.inAllStages("tasks")).as("tasks in run %s", run).isPositive();
      assertThat(events.inAllStages("bytesRead"))
          .as("bytes that executors report in run %s, and Spark's input metric", run)
          .isEqualTo(query.tasks().inputBytes())
          .isPositive();
    }
    assertThat(digests).hasSize(1);
    JsonNode history = history(histories);
    assertThat(history.path("tables")).hasSize(1);
    long told = 0;
    for (JsonNode each : history.path("runs")) {
      told += each.path("with").path("tasks").asLong();
      told += each.path("without").path("tasks").asLong();
    }
    assertThat(told).as("tasks of a table that the first run has learnt").isPositive();
  }

  private static JsonNode history(Path directory) throws IOException {
    try (var files = Files.walk(directory)) {
      List<Path> found =
          files.filter(each -> each.toString().endsWith(".json")).collect(Collectors.toList());
      assertThat(found).hasSize(1);
      return new ObjectMapper().readTree(found.get(0).toFile()).path("history");
    }
  }

  @Test
  void queriesOnExecutorsApart() throws Exception {
    String data = SparkTpchTest.generate(store, 0.05, List.of("parquet", "csv"));
    List<String> steps =
        List.of(
            "tables parquet " + data,
            "query 1",
            "query 6",
            "query 14",
            "sql select sum(hash(*)) from lineitem",
            "tables csv " + data,
            "query 12");
    String job = "executors apart, TPC-H 0.05";
    Map<Stream, List<StepResult>> results = new HashMap<>();
    Row.compare(
        spark.name(),
        job,
        stream -> {
          SparkRun.Done done =
              SparkRun.of(spark, stream, store, job).master(SparkRun.LOCAL_CLUSTER).run(steps);
          results.put(stream, done.results());
          return done.outcomeWithoutInput();
        });
    // Only in local mode do the tasks count where the driver can see it.
    List<StepResult> inOneJvm =
        SparkRun.of(spark, Stream.CLASSIC, store, job + ", bytes").run(steps).results();
    for (int step = 0; step < steps.size(); step++) {
      assertThat(results.get(Stream.S3E).get(step).tasks().inputBytes())
          .as("input metric of the step '%s'", steps.get(step))
          .isEqualTo(inOneJvm.get(step).reads().bytes());
    }
  }
}
