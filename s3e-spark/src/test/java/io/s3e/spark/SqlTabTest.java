// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.s3e.spark.stages.SparkListenerS3EStage;
import io.s3e.testing.Slow;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.fs.FileSystem;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.jsoup.Jsoup;
import org.jsoup.nodes.Element;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What S3E did for each scan, as the SQL tab shows it and as event logs have it, from which the
 * History Server shows the same. Prefetch is off, so that nothing comes after the end of a task.
 */
@Tag("spark")
@Slow
class SqlTabTest extends SparkOnServer {
  private static final String SQL = "org.apache.spark.sql.execution.ui.SparkListenerSQL";
  private static final String READ = "bytes read by S3E";
  private static final int LOCATED_BYTES = 100_000;

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

  private static final String PRICE = "price of requests and of time blocked, by estimate";

  private static double dollarsInEvents(LocalSpark spark) throws Exception {
    double sum = 0;
    for (JsonNode event : spark.logged(SparkListenerS3EStage.class.getName())) {
      JsonNode bill = event.path("bill");
      sum += bill.path("requestsUsd").asDouble() + bill.path("blockedUsd").asDouble();
    }
    return sum;
  }

  private SparkSession.Builder settings(LocalSpark spark) {
    return spark
        .builder()
        .config("spark.s3e.prefetch.enabled", "false")
        .config("spark.s3e.cache.mode", "memory")
        .config("spark.sql.autoBroadcastJoinThreshold", "-1")
        .config("spark.sql.files.openCostInBytes", "0")
        .config("spark.sql.files.minPartitionNum", "1");
  }

  /** Two tables of as many buckets, of which a join reads two in each task. */
  private static void write(SparkSession session) {
    for (int table = 1; table <= 2; table++) {
      session
          .range(0, 20_000L * table, 1, 2)
          .selectExpr("id % 7001 AS k", "id * 31 AS v")
          .write()
          .mode("overwrite")
          .bucketBy(2, "k")
          .option("path", LocalSpark.path("buckets-" + table))
          .saveAsTable("buckets_" + table);
    }
  }

  private static List<Row> sum(SparkSession session, String table) {
    return session.sql("SELECT sum(k + v) FROM " + table + " WHERE k IS NOT NULL").collectAsList();
  }

  /** A node of a plan in the log, and the sums of its metrics over all tasks. */
  private record Node(long execution, String name, String scan, Map<String, Long> values) {}

  private static List<Node> nodes(LocalSpark spark) throws Exception {
    Map<Long, JsonNode> plans = new LinkedHashMap<>();
    for (String event : List.of("ExecutionStart", "AdaptiveExecutionUpdate")) {
      for (JsonNode each : spark.logged(SQL + event)) {
        plans.put(each.path("executionId").asLong(), each.path("sparkPlanInfo"));
      }
    }
    Map<Long, Long> sums = new HashMap<>();
    for (JsonNode task : spark.logged("SparkListenerTaskEnd")) {
      for (JsonNode each : task.path("Task Info").path("Accumulables")) {
        sums.merge(each.path("ID").asLong(), each.path("Update").asLong(), Long::sum);
      }
    }
    List<Node> nodes = new ArrayList<>();
    plans.forEach((execution, plan) -> collect(execution, plan, sums, nodes));
    return nodes;
  }

  private static void collect(
      long execution, JsonNode plan, Map<Long, Long> sums, List<Node> nodes) {
    Map<String, Long> values = new HashMap<>();
    for (JsonNode metric : plan.path("metrics")) {
      values.put(
          metric.path("name").asText(),
          sums.getOrDefault(metric.path("accumulatorId").asLong(), 0L));
    }
    String name = plan.path("nodeName").asText();
    if (name.equals("S3EReads")) {
      String scan = plan.path("children").path(0).path("nodeName").asText();
      nodes.add(new Node(execution, name, scan, values));
    }
    plan.path("children").forEach(child -> collect(execution, child, sums, nodes));
  }

  private static long inEvents(LocalSpark spark, String count) throws Exception {
    long sum = 0;
    for (JsonNode event : spark.logged(SparkListenerS3EStage.class.getName())) {
      for (JsonNode executor : event.path("executors")) {
        sum += executor.path("counts").path(count).asLong();
      }
    }
    return sum;
  }

  /** As Iceberg's tables are read: by a V2 source of others, which tells where its table lies. */
  private static void readLocated(SparkSession session) throws Exception {
    org.apache.hadoop.fs.Path file = new org.apache.hadoop.fs.Path(LocalSpark.path("located/f"));
    FileSystem store = FileSystem.get(file.toUri(), session.sparkContext().hadoopConfiguration());
    try (var out = store.create(file)) {
      out.write(new byte[LOCATED_BYTES]);
    }
    List<Row> rows =
        session.read().format(LocatedSource.class.getName()).load(file.toString()).collectAsList();
    assertThat(rows).extracting(row -> row.getLong(0)).containsExactly((long) LOCATED_BYTES);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void scansAddUpToTheEventsOfTheirStages(boolean adaptive) throws Exception {
    LocalSpark spark = new LocalSpark(server, directory);
    SparkSession session =
        settings(spark)
            .config("spark.sql.adaptive.enabled", Boolean.toString(adaptive))
            .config("spark.ui.enabled", "true")
            .config("spark.ui.port", "0")
            .getOrCreate();
    write(session);
    sum(session, "buckets_1");
    sum(session, "buckets_2");
    session
        .sql("SELECT sum(a.k + a.v), sum(b.k + b.v) FROM buckets_1 a JOIN buckets_2 b ON a.k = b.k")
        .collectAsList();
    session.conf().set("spark.sql.sources.useV1SourceList", "");
    session
        .read()
        .schema("k LONG, v LONG")
        .parquet(LocalSpark.path("buckets-1"))
        .selectExpr("sum(k + v)")
        .collectAsList();
    readLocated(session);
    assertShown(session);
    session.stop();

    List<Node> nodes = nodes(spark);
    assertThat(nodes).as("%s", nodes).hasSize(6);
    for (Map.Entry<String, String> same : SAME.entrySet()) {
      long shown = nodes.stream().mapToLong(node -> node.values().get(same.getKey())).sum();
      assertThat(shown).as(same.getKey()).isEqualTo(inEvents(spark, same.getValue()));
    }
    double dollars = nodes.stream().mapToLong(node -> node.values().get(PRICE)).sum() / 1e9;
    // Tasks round to a billionth.
    assertThat(dollars).as(PRICE).isPositive().isCloseTo(dollarsInEvents(spark), within(1e-7));
    assertThat(nodes).allSatisfy(node -> assertThat(node.values().get(READ)).isPositive());
    assertThat(nodes.get(4).scan()).startsWith("BatchScan");
    assertThat(nodes.get(5).values()).containsEntry(READ, (long) LOCATED_BYTES);
    // In a join each scan has what is its own, though one task reads for both.
    List<Long> alone = List.of(nodes.get(0).values().get(READ), nodes.get(1).values().get(READ));
    assertThat(alone.get(1)).isGreaterThan(alone.get(0));
    assertThat(nodes.get(2).execution()).isEqualTo(nodes.get(3).execution());
    assertThat(List.of(nodes.get(2).values().get(READ), nodes.get(3).values().get(READ)))
        .containsExactlyInAnyOrderElementsOf(alone);
  }

  private static void assertShown(SparkSession session) throws Exception {
    session.sparkContext().listenerBus().waitUntilEmpty(60_000);
    int port = URI.create(session.sparkContext().uiWebUrl().get()).getPort();
    URI ui = URI.create("http://127.0.0.1:" + port);
    Set<String> pages = new LinkedHashSet<>();
    for (Element link : Jsoup.connect(ui + "/SQL/").get().select("a[href*=/SQL/execution/]")) {
      pages.add(Jsoup.connect(ui.resolve(link.attr("href")).toString()).get().outerHtml());
    }
    assertThat(pages)
        .anySatisfy(
            page -> assertThat(page).contains("S3EReads", READ, "GETs", "time blocked in reads"))
        .anySatisfy(page -> assertThat(page).containsPattern(PRICE + "[^0-9]+0\\.\\d+ USD"));
  }

  @Test
  void switchedOffThereIsNoNode() throws Exception {
    LocalSpark spark = new LocalSpark(server, directory);
    SparkSession session =
        settings(spark)
            .config("spark.s3e.sql.metrics.enabled", "false")
            .config("spark.s3e.announce.enabled", "false")
            .getOrCreate();
    session.range(10).write().mode("overwrite").parquet(LocalSpark.path("off"));
    assertThat(session.read().parquet(LocalSpark.path("off")).count()).isEqualTo(10);
    session.stop();
    assertThat(nodes(spark)).isEmpty();
    assertThat(inEvents(spark, "bytesRead")).isPositive();
  }
}
