// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.spark;

import io.s3e.engines.Row;
import io.s3e.engines.Store;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The other lines of Spark; 3.5 with the Hadoop 3.3 that it ships, and with 3.4 in its place. */
class SparkLinesTest {
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

  @ParameterizedTest
  @ValueSource(strings = {"spark-3.5", "spark-4.0", "spark-4.2"})
  void queries(String home) throws Exception {
    SparkHome spark = SparkHome.of(home);
    String job = "TPC-H 0.01, some queries";
    Row.compare(
        spark.name(), job, stream -> SparkRun.of(spark, stream, store, job).run(steps()).outcome());
  }

  @Test
  void stockSparkReadsAsS3A() throws Exception {
    compareStock("stock", steps());
  }

  @Test
  void allQueriesOnStockSpark() throws Exception {
    List<String> formats = List.of("parquet", "orc", "csv", "json_gz");
    String tables = SparkTpchTest.generate(store, 0.1, formats);
    List<String> steps = new ArrayList<>(List.of("tables parquet " + tables));
    IntStream.rangeClosed(1, 22).forEach(query -> steps.add("query " + query));
    for (String format : formats.subList(1, formats.size())) {
      steps.add("tables " + format + " " + tables);
      List.of(1, 6, 14).forEach(query -> steps.add("query " + query));
    }
    compareStock("stock, 22 queries", steps);
  }

  /** The control is S3A of Spark's own Hadoop, which is among its jars. */
  private static void compareStock(String job, List<String> steps) throws Exception {
    SparkHome spark = SparkHome.of("spark-3.5-stock");
    Row.compare(
        spark.name(),
        job,
        stream -> SparkRun.onBareHome(spark, stream, store, job).run(steps).outcomeWithoutInput());
  }
}
