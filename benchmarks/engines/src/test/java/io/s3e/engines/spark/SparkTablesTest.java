package io.s3e.engines.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.engines.Outcome;
import io.s3e.engines.Row;
import io.s3e.engines.Store;
import io.s3e.engines.Stream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Iceberg and Delta Lake on Spark: a table is made, counted, summed up, deleted from, counted. */
class SparkTablesTest {
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

  private static void compare(
      String format, String table, Function<Stream, Map<String, String>> conf) throws Exception {
    List<String> steps =
        List.of(
            "tables parquet " + data,
            "sql create table " + table + " using " + format + " as select * from lineitem",
            "sql select count(*) from " + table,
            "sql select l_returnflag, sum(l_quantity), count(*) from "
                + table
                + " where l_shipdate < date '1995-01-01' group by l_returnflag",
            "sql delete from " + table + " where l_linenumber = 3",
            "sql select count(*), sum(hash(l_orderkey, l_comment)) from " + table);
    Row.compare(
        spark.name(),
        format + ": create, count, sum, delete, count",
        stream -> run(format, stream, steps, conf).outcomeWithoutInput());
    // Two tables of the same rows need not be the same bytes: a run is held to its own.
    Outcome counted = run(format, Stream.COUNTED_S3E, steps, conf).outcome();
    assertThat(counted.exitCode()).isZero();
    assertThat(counted.given().orElseThrow()).as("bytes given to tasks").isPositive();
    assertThat(counted.input()).as("input metric, %s", format).isEqualTo(counted.given());
  }

  private static SparkRun.Done run(
      String format, Stream stream, List<String> steps, Function<Stream, Map<String, String>> conf)
      throws IOException, InterruptedException {
    SparkRun run = SparkRun.of(spark, stream, store, format).jars(SparkHome.tables());
    conf.apply(stream).forEach(run::conf);
    return run.run(steps);
  }

  @Test
  void iceberg() throws Exception {
    compare(
        "iceberg",
        "lake.db.items",
        stream ->
            Map.of(
                "spark.sql.extensions",
                "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
                "spark.sql.catalog.lake",
                "org.apache.iceberg.spark.SparkCatalog",
                "spark.sql.catalog.lake.type",
                "hadoop",
                "spark.sql.catalog.lake.warehouse",
                Store.ROOT + "iceberg-" + stream));
  }

  @Test
  void delta() throws Exception {
    compare(
        "delta",
        "items",
        stream ->
            Map.of(
                // Spark counts what it reads from its own cache of RDDs as input too.
                "spark.databricks.delta.snapshotCache.storageLevel",
                "NONE",
                "spark.sql.extensions",
                "io.delta.sql.DeltaSparkSessionExtension",
                "spark.sql.catalog.spark_catalog",
                "org.apache.spark.sql.delta.catalog.DeltaCatalog",
                "spark.sql.warehouse.dir",
                Store.ROOT + "delta-" + stream));
  }
}
