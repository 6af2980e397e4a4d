package io.s3e.engines.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.engines.Outcome;
import io.s3e.engines.Row;
import io.s3e.engines.Store;
import io.s3e.engines.Stream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Spark 3.5, which ships a Hadoop that is too old, and whose users swap two jars. */
class Spark35Test {
  @TempDir private static Path directory;
  private static Store store;
  private static String data;

  @BeforeAll
  static void start() throws Exception {
    store = Store.start(directory);
    data = SparkTpchTest.generate(store, 0.01, List.of("parquet", "orc"));
  }

  @AfterAll
  static void stop() throws IOException {
    store.close();
  }

  private static List<String> steps() {
    return List.of(
        "tables parquet " + data,
        "query 1",
        "query 6",
        "query 14",
        "tables orc " + data,
        "query 1",
        "query 6");
  }

  @Test
  void queriesOnSwappedJars() throws Exception {
    SparkHome spark = SparkHome.of("spark-3.5");
    String job = "TPC-H 0.01, some queries";
    Row.compare(
        spark.name(), job, stream -> SparkRun.of(spark, stream, store, job).run(steps()).outcome());
  }

  @Test
  void stockSparkIsToldWhatIsNeeded() throws Exception {
    SparkHome spark = SparkHome.of("spark-3.5-stock");
    Outcome outcome = SparkRun.onBareHome(spark, Stream.S3E, store, "stock").run(steps()).outcome();
    assertThat(outcome.exitCode()).isNotZero();
    String output = String.join("\n", outcome.output());
    assertThat(output).doesNotContain("NoClassDefFoundError");
    assertThat(output).contains("3.3.4").contains("3.4.1");
  }
}
