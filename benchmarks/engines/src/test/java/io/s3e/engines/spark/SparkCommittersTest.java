// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.spark;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.engines.Row;
import io.s3e.engines.Store;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A table that Spark writes through a committer and reads back. */
class SparkCommittersTest {
  @TempDir private static Path directory;
  private static Store store;
  private static SparkHome spark;
  private static String data;

  @BeforeAll
  static void start() throws Exception {
    spark = SparkHome.of("spark-4.1");
    store = Store.start(directory);
    data = SparkTpchTest.generate(store, 0.01, List.of("parquet"));
  }

  @AfterAll
  static void stop() throws IOException {
    store.close();
  }

  /** A committer of S3A's, as S3A's page binds it to Spark. */
  private static Map<String, String> committer(String name) {
    return Map.of(
        "spark.hadoop.fs.s3a.committer.name",
        name,
        // The directory and the partitioned one keep the lists of their uploads there.
        "spark.hadoop.fs.s3a.committer.staging.tmp.path",
        directory.resolve("staging").toString(),
        "spark.sql.sources.commitProtocolClass",
        "org.apache.spark.internal.io.cloud.PathOutputCommitProtocol",
        "spark.sql.parquet.output.committer.class",
        "org.apache.spark.internal.io.cloud.BindingParquetOutputCommitter");
  }

  /** What a committer writes to: {@code save} or {@code save_by COLUMN}. */
  private static void compare(SparkHome home, List<Path> jars, String committer, String save)
      throws Exception {
    String to = Store.ROOT + "written-" + committer;
    String digest = "sql select count(*), sum(hash(l_orderkey, l_shipmode, l_comment)) from ";
    List<String> steps =
        List.of(
            "tables parquet " + data,
            save + " lineitem parquet " + to,
            digest + "parquet.`" + to + "`",
            digest + "lineitem");
    // What a committer reads of its own is some bytes longer or shorter in each run.
    Row.compareCounted(
        home.name(),
        "write and read back by the " + committer + " committer",
        stream -> {
          SparkRun run = SparkRun.of(home, stream, store, committer + " committer").jars(jars);
          committer(committer).forEach(run::conf);
          SparkRun.Done done = run.run(steps);
          assertThat(done.results()).as("%s", done.outcome().output()).hasSize(steps.size());
          assertThat(done.results().get(2).digest())
              .as("read back with %s", stream)
              .isEqualTo(done.results().get(3).digest());
          return done.outcome();
        });
    String summary = new String(store.get("written-" + committer + "/_SUCCESS"), UTF_8);
    if (committer.equals("file")) {
      assertThat(summary).as("of Hadoop's own committer").isEmpty();
    } else {
      assertThat(summary)
          .as("the committer's own summary")
          .containsPattern("\"committer\"\\s*:\\s*\"" + committer + "\"");
    }
  }

  @Test
  void fileCommitter() throws Exception {
    // Named: of itself this Spark takes the magic one where it has the jars of the others.
    compare(spark, SparkHome.tables(), "file", "save");
  }

  @Test
  void magicCommitter() throws Exception {
    compare(spark, SparkHome.tables(), "magic", "save");
  }

  /** With the Hadoop 3.3 that it ships. */
  @ParameterizedTest
  @CsvSource({"magic, save", "directory, save", "partitioned, save_by l_shipmode"})
  void committersOnStockSpark(String committer, String save) throws Exception {
    SparkHome stock = SparkHome.of("spark-3.5-stock");
    compare(stock, SparkHome.committers(), committer, save);
  }
}
