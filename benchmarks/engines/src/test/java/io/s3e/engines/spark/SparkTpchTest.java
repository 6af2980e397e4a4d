// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.spark;

import io.s3e.engines.Row;
import io.s3e.engines.Store;
import io.s3e.engines.Stream;
import io.s3e.testing.Seed;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The queries of TPC-H on Spark, by the formats that Spark reads. CI has the two queries that need
 * one table, by Parquet and one format more, another one each time; all of them, of more data, run
 * without {@code -Ds3e.engines=quick}, as each night.
 */
@Tag("tpch")
class SparkTpchTest {
  private static final List<String> FORMATS = List.of("parquet", "orc", "csv", "json_gz");

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

  /** Writes the tables by S3A and returns where they are. */
  static String generate(Store store, double scale, List<String> formats)
      throws IOException, InterruptedException {
    return generate(store, "generate", scale, formats);
  }

  private static String generate(Store store, String step, double scale, List<String> formats)
      throws IOException, InterruptedException {
    SparkHome spark = SparkHome.of("spark-4.1");
    String to = Store.ROOT + "tpch-" + scale;
    String line =
        String.format(Locale.ROOT, "%s %s 2 %s %s", step, scale, String.join(",", formats), to);
    // Tests in another JVM may write tables of theirs at the same time.
    String job = "generate " + ProcessHandle.current().pid();
    SparkRun.Done done = SparkRun.of(spark, Stream.CLASSIC, store, job).run(List.of(line));
    if (done.outcome().exitCode() != 0) {
      throw new IOException("No data: " + String.join("\n", done.outcome().output()));
    }
    return to;
  }

  private static void compare(String job, List<String> steps) throws Exception {
    Row.compare(
        spark.name(), job, stream -> SparkRun.of(spark, stream, store, job).run(steps).outcome());
  }

  @Test
  @Tag("quick")
  void someQueriesByParquetAndAnotherFormat() throws Exception {
    List<String> others = new ArrayList<>(FORMATS.subList(1, FORMATS.size()));
    Collections.shuffle(others, new Random(Seed.draw()));
    List<String> formats = List.of(FORMATS.get(0), others.get(0));
    String data = generate(store, "generate_table lineitem", 0.01, formats);
    List<String> steps = new ArrayList<>();
    for (String format : formats) {
      steps.add("table lineitem " + format + " " + data);
      steps.add("query 1");
      steps.add("query 6");
    }
    compare("TPC-H 0.01, Q1 and Q6 by " + String.join(" and ", formats), steps);
  }

  @Test
  void allQueriesByParquetAndSomeByOthers() throws Exception {
    String data = generate(store, 0.1, FORMATS);
    List<String> all = new ArrayList<>(List.of("tables parquet " + data));
    IntStream.rangeClosed(1, 22).forEach(query -> all.add("query " + query));
    compare("TPC-H 0.1, 22 queries, parquet", all);
    for (String format : FORMATS.subList(1, FORMATS.size())) {
      List<String> steps = new ArrayList<>(List.of("tables " + format + " " + data));
      for (int query : List.of(1, 3, 6, 12, 14)) {
        steps.add("query " + query);
      }
      compare("TPC-H 0.1, five queries, " + format, steps);
    }
  }
}
