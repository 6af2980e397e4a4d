// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.engines.Row;
import io.s3e.engines.Store;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A table that Spark writes through a committer and reads back. */
class SparkCommittersTest {
  private static final Map<String, String> MAGIC =
      Map.of(
          "spark.hadoop.fs.s3a.committer.name", "magic",
          "spark.sql.sources.commitProtocolClass",
              "org.apache.spark.internal.io.cloud.PathOutputCommitProtocol",
          "spark.sql.parquet.output.committer.class",
              "org.apache.spark.internal.io.cloud.BindingParquetOutputCommitter");

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

  private static void compare(String committer, Map<String, String> conf) throws Exception {
    String to = Store.ROOT + "written-" + committer;
    List<String> steps =
        List.of(
            "tables parquet " + data,
            "save lineitem parquet " + to,
            "sql select count(*), sum(hash(*)) from parquet.`" + to + "`",
            "sql select count(*), sum(hash(*)) from lineitem");
    Row.compare(
        spark.name(),
        "write and read back by the " + committer + " committer",
        stream -> {
          SparkRun run =
              SparkRun.of(spark, stream, store, committer + " committer").jars(SparkHome.tables());
          conf.forEach(run::conf);
          SparkRun.Done done = run.run(steps);
          assertThat(done.results().get(2).digest())
              .as("read back with %s", stream)
              .isEqualTo(done.results().get(3).digest());
          return done.outcome();
        });
  }

  @Test
  void fileCommitter() throws Exception {
    compare("file", Map.of());
  }

  @Test
  void magicCommitter() throws Exception {
    compare("magic", MAGIC);
    assertThat(new String(store.get("written-magic/_SUCCESS"), StandardCharsets.UTF_8))
        .as("the committer's own summary")
        .containsPattern("\"committer\"\\s*:\\s*\"magic\"");
  }
}
