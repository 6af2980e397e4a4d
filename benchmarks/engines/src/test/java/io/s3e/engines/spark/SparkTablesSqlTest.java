// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.engines.Store;
import io.s3e.engines.Stream;
import io.s3e.engines.spark.SqlNodes.Node;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The SQL tab over tables of Iceberg and of Delta Lake: over each of their scans is a node of the
 * plugin, and the nodes add up to the events of their stages. Prefetch is off, so that nothing
 * comes after the end of a task.
 */
class SparkTablesSqlTest {
  private static final String LAKE = "spark.sql.catalog.lake";
  private static final String READ = "bytes read by S3E";

  /** Names in the tab, and the counts of the stage events that they are. */
  private static final Map<String, String> SAME =
      Map.of(
          READ,
          "bytesRead",
          "bytes from memory",
          "bytesFromMemory",
          "bytes from local disk",
          "bytesFromDisk",
          "bytes from S3",
          "bytesFromS3",
          "GETs",
          "gets",
          "time blocked in reads",
          "readWaitNanos");

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

  private static SparkRun run(String job, Map<String, String> conf) throws Exception {
    SparkRun run =
        SparkRun.of(spark, Stream.PLUGIN, store, job)
            .jars(List.of(SparkHome.line()))
            .jars(SparkHome.tables())
            .conf("spark.plugins", "io.s3e.spark.S3EPlugin")
            .conf("spark.s3e.prefetch.enabled", "false")
            .conf("spark.s3e.cache.mode", "memory");
    conf.forEach(run::conf);
    return run;
  }

  private static void succeed(SparkRun run, List<String> steps) throws Exception {
    SparkRun.Done done = run.run(steps);
    assertThat(done.outcome().exitCode()).as(String.join("\n", done.outcome().output())).isZero();
  }

  /**
   * @param scan how the name of a scan of the table begins
   */
  private static void nodesAddUp(
      String format, String table, String scan, String properties, Map<String, String> conf)
      throws Exception {
    succeed(
        run(format + ", written", conf),
        List.of(
            "tables parquet " + data,
            "sql create table "
                + table
                + " using "
                + format
                + properties
                + " as select * from lineitem",
            "sql delete from " + table + " where l_linenumber = 3"));
    Path logs = Files.createDirectories(directory.resolve("events-" + format));
    SparkRun logged = run(format + ", read", conf).eventLog(logs);
    succeed(
        logged,
        List.of(
            "tables parquet " + data,
            "sql select sum(l_quantity) from " + table,
            "sql select l_returnflag, sum(l_quantity), count(*) from "
                + table
                + " where l_shipdate < date '1995-01-01' group by l_returnflag",
            "sql select o_orderpriority, sum(l_quantity) from "
                + table
                + " join orders on l_orderkey = o_orderkey group by o_orderpriority"));

    SqlNodes log = SqlNodes.of(logs);
    List<Node> nodes = log.nodes();
    assertThat(nodes)
        .as("nodes over scans of the table")
        .filteredOn(node -> node.scan().startsWith(scan) && node.values().get(READ) > 0)
        .hasSizeGreaterThanOrEqualTo(3);
    Set<Long> executions = nodes.stream().map(Node::execution).collect(Collectors.toSet());
    SAME.forEach(
        (shown, count) ->
            assertThat(nodes.stream().mapToLong(node -> node.values().get(shown)).sum())
                .as("%s, %s", format, shown)
                .isEqualTo(log.inStages(executions, count)));
    assertThat(log.inStages(executions, "gets")).isPositive();
  }

  @Test
  void iceberg() throws Exception {
    nodesAddUp(
        "iceberg",
        "lake.db.items",
        "BatchScan",
        " tblproperties ('write.delete.mode'='merge-on-read')",
        Map.of(
            "spark.sql.extensions",
            "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
            LAKE,
            "org.apache.iceberg.spark.SparkCatalog",
            LAKE + ".type",
            "hadoop",
            LAKE + ".warehouse",
            Store.ROOT + "iceberg-sql"));
  }

  @Test
  void delta() throws Exception {
    nodesAddUp(
        "delta",
        "delta.`" + Store.ROOT + "delta-sql/items`",
        "Scan",
        "",
        Map.of(
            "spark.databricks.delta.snapshotCache.storageLevel",
            "NONE",
            "spark.sql.extensions",
            "io.delta.sql.DeltaSparkSessionExtension",
            "spark.sql.catalog.spark_catalog",
            "org.apache.spark.sql.delta.catalog.DeltaCatalog"));
  }
}
