// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.engines.Row;
import io.s3e.engines.Store;
import io.s3e.engines.Stream;
import io.s3e.engines.spark.job.StepResult;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Executors in JVMs of their own. */
class SparkExecutorsTest {
  @TempDir private static Path directory;
  private static Store store;
  private static SparkHome spark;

  @BeforeAll
  static void start() throws Exception {
    spark = SparkHome.of("spark-4.1");
    store = Store.start(directory);
  }

  @AfterAll
  static void stop() throws IOException {
    store.close();
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
