// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.hadoop.S3EFileSystem;
import io.s3e.spark.stages.ExecutorReads;
import io.s3e.spark.stages.ReadCounts;
import io.s3e.spark.stages.SparkListenerS3EStage;
import io.s3e.version.Version;
import java.net.URI;
import java.util.List;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.util.VersionInfo;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Spark 3.5 with the Hadoop 3.3 that it ships: the jar of the line and what its POM brings. */
@Tag("stock")
class StockHadoopTest extends SparkOnServer {
  @ParameterizedTest
  @ValueSource(strings = {"parquet", "orc", "csv", "json"})
  void filesAreReadByS3EAsByS3A(String format) throws Exception {
    String table = LocalSpark.path(format);
    LocalSpark local = new LocalSpark(server, directory);
    SparkSession plain = local.plain().getOrCreate();
    plain
        .range(0, 30_000, 1, 3)
        .selectExpr("id", "id % 97 as k", "concat('name-', id % 1000) as n")
        .write()
        .format(format)
        .save(table);
    List<Row> theirs = answer(plain, format, table);
    plain.stop();
    FileSystem.closeAll();

    try (LogLines log = new LogLines()) {
      SparkSession session = local.builder().getOrCreate();
      assertThat(VersionInfo.getVersion()).startsWith("3.3.");
      List<SparkListenerS3EStage> posted = stagesOf(session);
      assertThat(answer(session, format, table)).isEqualTo(theirs).hasSize(97);
      FileSystem files =
          FileSystem.get(URI.create(table), session.sparkContext().hadoopConfiguration());
      assertThat(files).isInstanceOf(S3EFileSystem.class);
      assertReadByS3E(files, table);
      session.stop();
      // Posted once the stage's tasks have reported, and all of them before the end of Spark.
      assertThat(posted).anySatisfy(StockHadoopTest::assertRead);
      assertThat(log.lines())
          .anyMatch(
              line ->
                  line.startsWith("INFO S3E " + Version.text() + " on Hadoop 3.3.")
                      && line.contains(", client crt, budget "))
          .noneMatch(line -> line.startsWith("WARN S3E") || line.contains("by S3A's own stream"));
    }
  }

  private static void assertRead(SparkListenerS3EStage stage) {
    ReadCounts counts = ReadCounts.NONE;
    for (ExecutorReads executor : stage.executors()) {
      counts = counts.plus(executor.counts());
    }
    assertThat(counts.bytesRead()).isPositive();
    assertThat(counts.gets()).isPositive();
    assertThat(counts.bytesFromS3()).isPositive();
    assertThat(counts.heads()).isPositive();
    assertThat(stage.bill().requestsUsd()).isPositive();
    assertThat(stage.bill().vcpuUsd()).isPositive();
  }

  private static List<Row> answer(SparkSession session, String format, String table) {
    Dataset<Row> read =
        session.read().format(format).schema("id long, k long, n string").load(table);
    return read.groupBy("k")
        .agg(
            org.apache.spark.sql.functions.sum("id"),
            org.apache.spark.sql.functions.max("n"),
            org.apache.spark.sql.functions.count("id"))
        .orderBy("k")
        .collectAsList();
  }

  private static void assertReadByS3E(FileSystem files, String table) throws Exception {
    for (FileStatus each : files.listStatus(new org.apache.hadoop.fs.Path(table))) {
      try (FSDataInputStream in = files.open(each.getPath())) {
        assertThat(in.getWrappedStream().toString()).startsWith("S3E of ");
        assertThat(in.readAllBytes()).hasSize((int) each.getLen());
      }
    }
  }
}
