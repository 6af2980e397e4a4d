// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.engines.Outcome;
import io.s3e.engines.Row;
import io.s3e.engines.Store;
import io.s3e.engines.Stream;
import io.s3e.engines.Traffic;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Iceberg and Delta Lake on Spark: a table is made, counted, summed up, deleted from, counted. */
class SparkTablesTest {
  private static final String LAKE = "spark.sql.catalog.lake";

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

  private static Map<String, String> lake(String warehouse) {
    return Map.of(
        "spark.sql.extensions",
        "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        LAKE,
        "org.apache.iceberg.spark.SparkCatalog",
        LAKE + ".type",
        "hadoop",
        LAKE + ".warehouse",
        Store.ROOT + warehouse);
  }

  /** The properties of a catalog whose files are read by Iceberg's own client, or by S3E's. */
  private static Map<String, String> lakeByFileIo(Stream stream) {
    Map<String, String> conf = new HashMap<>(lake("iceberg-file-io-" + stream));
    conf.put(
        LAKE + ".io-impl",
        stream == Stream.S3E ? "io.s3e.iceberg.S3EFileIO" : "org.apache.iceberg.aws.s3.S3FileIO");
    Map<String, String> s3a = store.keys();
    conf.put(LAKE + ".s3.endpoint", s3a.get("fs.s3a.endpoint"));
    conf.put(LAKE + ".s3.path-style-access", s3a.get("fs.s3a.path.style.access"));
    conf.put(LAKE + ".s3.access-key-id", s3a.get("fs.s3a.access.key"));
    conf.put(LAKE + ".s3.secret-access-key", s3a.get("fs.s3a.secret.key"));
    conf.put(LAKE + ".client.region", s3a.get("fs.s3a.endpoint.region"));
    // Its default, apache, is one that S3A does not bring.
    conf.put(LAKE + ".http-client.type", "urlconnection");
    return conf;
  }

  @Test
  void iceberg() throws Exception {
    compare("iceberg", "lake.db.items", stream -> lake("iceberg-" + stream));
  }

  /** One JVM reads the table by the file IO, and what is joined with it by {@code s3a://}. */
  @Test
  void icebergByFileIo() throws Exception {
    String table = "lake.db.items";
    List<String> steps =
        List.of(
            "tables parquet " + data,
            "sql create table "
                + table
                + " using iceberg tblproperties ('write.delete.mode'='merge-on-read')"
                + " as select * from lineitem",
            "sql select count(*) from " + table,
            "sql select l_returnflag, sum(l_quantity), count(*) from "
                + table
                + " where l_shipdate < date '1995-01-01' group by l_returnflag",
            "sql delete from " + table + " where l_linenumber = 3",
            "sql select count(*), sum(hash(l_orderkey, l_comment)) from " + table,
            "sql insert into " + table + " select * from lineitem where l_linenumber = 3",
            "sql select o_orderpriority, count(*), sum(l_quantity) from "
                + table
                + " join orders on l_orderkey = o_orderkey group by o_orderpriority",
            "sql select count(*), sum(hash(l_orderkey, l_comment)) from " + table,
            "sql alter table " + table + " create tag before_compaction",
            "sql call lake.system.rewrite_data_files(table => 'db.items',"
                + " options => map('rewrite-all', 'true', 'target-file-size-bytes', '400000'))",
            "sql call lake.system.rewrite_manifests('db.items')",
            "sql delete from " + table + " where l_linenumber = 2",
            "sql select count(*), sum(hash(l_orderkey, l_comment)) from " + table,
            "sql select count(*), sum(hash(l_orderkey, l_comment)) from "
                + table
                + " version as of 'before_compaction'");
    Row row =
        Row.compare(
            spark.name(),
            "iceberg by its file IO: create, count, sum, delete, insert, join, compact, go back",
            stream -> {
              SparkRun run =
                  SparkRun.of(spark, stream, store, "iceberg-file-io")
                      .jars(SparkHome.tables())
                      .jars(SparkHome.icebergAws());
              lakeByFileIo(stream).forEach(run::conf);
              return run.run(steps).outcomeWithoutInput();
            });
    assertThat(ofTable(row.control()))
        .as("the control's GETs of the table")
        .isNotEmpty()
        .allSatisfy(get -> assertThat(get.agent()).containsIgnoringCase("s3fileio"));
    assertThat(ofTable(row.s3e()))
        .as("S3E's GETs of the table")
        .isNotEmpty()
        .allSatisfy(get -> assertThat(get.isByS3E()).as("%s", get).isTrue());
  }

  /**
   * Credentials that a catalog vends live shortly and are asked for anew while a table is written
   * and read. The store does not look at their end: the tests of the file IO have one that does.
   */
  @Test
  void icebergByARestCatalogThatVendsCredentials() throws Exception {
    String table = "lake.db.items";
    List<String> steps =
        List.of(
            "tables parquet " + data,
            "sql create namespace lake.db",
            "sql create table " + table + " using iceberg as select * from lineitem",
            "sql select count(*), sum(hash(l_orderkey, l_comment)) from " + table,
            "sql insert into " + table + " select * from lineitem where l_linenumber = 3",
            "sql delete from " + table + " where l_linenumber = 2",
            "sql select l_returnflag, sum(l_quantity), count(*) from "
                + table
                + " group by l_returnflag",
            "sql select o_orderpriority, count(*), sum(l_quantity) from "
                + table
                + " join orders on l_orderkey = o_orderkey group by o_orderpriority");
    List<Integer> renewals = new ArrayList<>();
    Row row =
        Row.compare(
            spark.name(),
            "iceberg by a REST catalog: create, count, insert, delete, sum, join",
            stream -> {
              Map<String, String> conf = lakeByFileIo(stream);
              String warehouse = "s3://" + Store.BUCKET + "/iceberg-rest-" + stream;
              try (RestCatalog catalog =
                  new RestCatalog(
                      warehouse,
                      Map.of(
                          "s3.access-key-id", conf.remove(LAKE + ".s3.access-key-id"),
                          "s3.secret-access-key", conf.remove(LAKE + ".s3.secret-access-key")),
                      Duration.ofSeconds(8))) {
                conf.put(LAKE + ".type", "rest");
                conf.put(LAKE + ".uri", catalog.uri());
                conf.remove(LAKE + ".warehouse");
                SparkRun run =
                    SparkRun.of(spark, stream, store, "iceberg-rest")
                        .jars(SparkHome.tables())
                        .jars(SparkHome.icebergAws());
                conf.forEach(run::conf);
                Outcome outcome = run.run(steps).outcomeWithoutInput();
                renewals.add(catalog.renewed());
                return outcome;
              }
            });
    assertThat(renewals).as("renewed credentials").hasSize(2).allMatch(times -> times > 0);
    assertThat(ofTable(row.s3e()))
        .as("S3E's GETs of the table")
        .isNotEmpty()
        .allSatisfy(get -> assertThat(get.isByS3E()).as("%s", get).isTrue());
  }

  /** GETs of data files and of what was deleted of them. */
  private static List<Traffic.Request> ofTable(Outcome outcome) {
    return outcome.traffic().requests().stream()
        .filter(each -> each.isGet() && each.path().contains("/db/items/data/"))
        .toList();
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
