// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.spark.LocatedSource;
import io.s3e.spark.sql.AskingFileSystem.Told;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.ForeachFunction;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.datasources.FilePartition;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Queries with the rule and without it, over a file system that asks for the next file. */
@Slow
class NextFilesTest {
  private static final int FILES = 6;

  private static final List<String> BUCKETED = List.of("buckets_a", "buckets_b");

  /** By what they are there for. Each reads at least two files in a task. */
  private static final Map<String, String> QUERIES = new LinkedHashMap<>();

  static {
    QUERIES.put("columnar", "SELECT sum(v), count(*) FROM parquet.`%s/numbers`");
    QUERIES.put(
        "a filter and a projection", "SELECT k, v + 1 FROM parquet.`%s/numbers` WHERE v > 90");
    QUERIES.put("orc", "SELECT sum(v) FROM orc.`%s/orc`");
    QUERIES.put("rows", "SELECT count(*), max(value) FROM text.`%s/text`");
    QUERIES.put("json, which is read twice", "SELECT sum(v) FROM json.`%s/json`");
    QUERIES.put(
        "the name of the file",
        "SELECT count(DISTINCT f) FROM (SELECT input_file_name() f FROM parquet.`%s/numbers`)");
    QUERIES.put("a limit", "SELECT count(*) FROM (SELECT v FROM parquet.`%s/numbers` LIMIT 7)");
    QUERIES.put("a shuffle", "SELECT k, sum(v) FROM parquet.`%s/numbers` GROUP BY k");
    QUERIES.put(
        "a reused exchange",
        "SELECT a.k, a.s, b.s FROM (SELECT k, sum(v) s FROM parquet.`%1$s/numbers` GROUP BY k) a"
            + " JOIN (SELECT k, sum(v) s FROM parquet.`%1$s/numbers` GROUP BY k) b ON a.k = b.k");
    QUERIES.put(
        "a subquery",
        "SELECT count(*) FROM parquet.`%1$s/numbers`"
            + " WHERE v > (SELECT avg(v) FROM parquet.`%1$s/numbers`)");
    QUERIES.put(
        "dynamic pruning",
        "SELECT sum(f.v) FROM parquet.`%1$s/facts` f JOIN parquet.`%1$s/days` d ON f.day = d.day"
            + " WHERE d.name = 'two'");
    QUERIES.put("buckets", "SELECT sum(a.v * b.v) FROM buckets_a a JOIN buckets_b b ON a.k = b.k");
    QUERIES.put(
        "a union",
        "SELECT sum(v) FROM (SELECT v FROM parquet.`%1$s/numbers` UNION ALL SELECT v FROM"
            + " orc.`%1$s/orc`)");
  }

  /** Of the only test in this JVM that asks for it. */
  private static final AtomicReference<TaskContext> LAST_TASK = new AtomicReference<>();

  @TempDir static Path directory;

  /** Whether more than the numbers in Parquet are there. */
  private static boolean isAllWritten;

  /** What a session did with all queries. */
  private record Ran(
      Map<String, List<String>> rows, List<String> plans, long bytes, long records) {}

  private static String root() {
    return AskingFileSystem.SCHEME + ":" + directory.toAbsolutePath();
  }

  private static SparkSession.Builder session() {
    return SparkSession.builder()
        .master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.hadoop.fs.asking.impl", AskingFileSystem.class.getName())
        .config("spark.sql.warehouse.dir", root() + "/warehouse")
        .config("spark.sql.queryExecutionListeners", Executed.class.getName())
        .config("spark.sql.files.openCostInBytes", "0")
        .config("spark.sql.files.minPartitionNum", "1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.autoBroadcastJoinThreshold", "2000");
  }

  @BeforeAll
  static void write() throws IOException {
    try (SparkSession spark = session().getOrCreate()) {
      numbers(spark).write().parquet(root() + "/numbers");
    }
  }

  /**
   * What {@link #QUERIES} read beside the numbers; lines of Spark that do not run them write none.
   */
  private static void writeAll() throws IOException {
    if (isAllWritten) {
      return;
    }
    isAllWritten = true;
    try (SparkSession spark = session().getOrCreate()) {
      var numbers = numbers(spark);
      numbers.write().orc(root() + "/orc");
      numbers.write().json(root() + "/json");
      numbers.selectExpr("concat_ws(' ', k, v)").write().text(root() + "/text");
      numbers
          .selectExpr("k", "v", "v % 5 AS day")
          .repartition(3)
          .write()
          .partitionBy("day")
          .parquet(root() + "/facts");
      spark
          .sql("SELECT 2L AS day, 'two' AS name UNION ALL SELECT 3L, 'three'")
          .write()
          .parquet(root() + "/days");
      for (String table : BUCKETED) {
        numbers
            .repartition(3)
            .write()
            .bucketBy(4, "k")
            .option("path", root() + "/" + table)
            .saveAsTable(table);
      }
    }
  }

  private static Dataset<Row> numbers(SparkSession spark) {
    return spark.range(0, 600, 1, FILES).selectExpr("id % 7 AS k", "id % 100 AS v");
  }

  @Test
  @Tag("every-query")
  void answersPlansAndMetricsAreTheSameWithAQE() throws IOException {
    compare(true);
  }

  @Test
  @Tag("every-query")
  void answersPlansAndMetricsAreTheSameWithoutAQE() throws IOException {
    compare(false);
  }

  private static void compare(boolean adaptive) throws IOException {
    writeAll();
    Ran without = run(session(), adaptive);
    AskingFileSystem.TOLD.clear();
    Ran with =
        run(session().config("spark.sql.extensions", AskingExtensions.class.getName()), adaptive);
    assertThat(with.rows()).isEqualTo(without.rows());
    assertThat(with.bytes()).as("Input").isPositive().isEqualTo(without.bytes());
    assertThat(with.records()).as("records of Input").isPositive().isEqualTo(without.records());
    assertThat(without.plans()).noneMatch(plan -> plan.contains("S3EReads"));
    assertThat(with.plans()).allMatch(plan -> plan.contains("S3EReads"));
    for (int i = 0; i < with.plans().size(); i++) {
      assertThat(operators(with.plans().get(i))).isEqualTo(operators(without.plans().get(i)));
    }
    assertThat(String.join("\n", with.plans()))
        .contains("ColumnarToRow", "ReusedExchange", "dynamicpruning", "Bucketed: true");
    assertThat(AskingFileSystem.TOLD).hasSizeGreaterThan(QUERIES.size());
    assertThat(TaskFiles.tasks()).isZero();
  }

  @Test
  void aTaskTellsItsFilesInTheirOrderEachOnce() throws IOException {
    AskingFileSystem.TOLD.clear();
    try (SparkSession spark =
        session().config("spark.sql.extensions", AskingExtensions.class.getName()).getOrCreate()) {
      spark.sql("SELECT sum(v) FROM parquet.`" + root() + "/numbers`").collectAsList();
    }
    List<Told> told = List.copyOf(AskingFileSystem.TOLD);
    assertThat(told).hasSize(FILES - 1);
    for (int i = 1; i < told.size(); i++) {
      assertThat(told.get(i).opened()).isEqualTo(told.get(i - 1).next().path());
    }
    assertThat(told)
        .allSatisfy(
            each ->
                assertThat(each.next().length())
                    .isEqualTo(Files.size(Path.of(each.next().path().toUri().getPath()))));
  }

  /** As a thread that feeds Python, and has not heard of the end. */
  @Test
  void aTaskThatHasEndedIsToldNothingAndLeavesNothing() throws IOException {
    try (SparkSession spark = session().getOrCreate()) {
      var rows = spark.read().parquet(root() + "/numbers").queryExecution().toRdd();
      FilePartition partition = (FilePartition) rows.partitions()[0];
      assertThat(partition.files()).hasSizeGreaterThan(1);
      spark.range(1).foreach((ForeachFunction<Long>) row -> LAST_TASK.set(TaskContext.get()));
      TaskContext task = LAST_TASK.get();
      assertThat(task.isCompleted()).isTrue();

      TaskFiles.expect(task, partition.files());
      assertThat(TaskFiles.tasks()).isZero();
    }
  }

  @Test
  void otherFileSystemsAreLeftAlone() throws IOException {
    Executed.PLANS.clear();
    try (SparkSession spark =
        session().config("spark.sql.extensions", AskingExtensions.class.getName()).getOrCreate()) {
      spark
          .sql("SELECT sum(v) FROM parquet.`file:" + directory.toAbsolutePath() + "/numbers`")
          .collectAsList();
      // A table of another source may fail to say where it lies, or ask a catalog that is away.
      Path untold = directory.resolve("table" + LocatedSource.UNTOLD);
      Files.write(untold, new byte[123]);
      assertThat(
              spark
                  .read()
                  .format(LocatedSource.class.getName())
                  .load("file:" + untold)
                  .collectAsList())
          .extracting(row -> row.getLong(0))
          .containsExactly(123L);
      settle(spark);
    }
    assertThat(Executed.PLANS).hasSize(2).noneMatch(plan -> plan.contains("S3EReads"));
  }

  private static Ran run(SparkSession.Builder settings, boolean adaptive) throws IOException {
    try (SparkSession spark =
        settings.config("spark.sql.adaptive.enabled", Boolean.toString(adaptive)).getOrCreate()) {
      for (String table : BUCKETED) {
        spark.sql(
            "CREATE TABLE "
                + table
                + " (k BIGINT, v BIGINT) USING parquet CLUSTERED BY (k) INTO 4 BUCKETS LOCATION '"
                + root()
                + "/"
                + table
                + "'");
      }
      AtomicLong bytes = new AtomicLong();
      AtomicLong records = new AtomicLong();
      spark
          .sparkContext()
          .addSparkListener(
              new SparkListener() {
                @Override
                public void onTaskEnd(SparkListenerTaskEnd end) {
                  bytes.addAndGet(end.taskMetrics().inputMetrics().bytesRead());
                  records.addAndGet(end.taskMetrics().inputMetrics().recordsRead());
                }
              });
      settle(spark);
      Executed.PLANS.clear();
      Map<String, List<String>> rows = new LinkedHashMap<>();
      QUERIES.forEach(
          (why, query) ->
              rows.put(
                  why,
                  spark
                      .sql(query.replace("%1$s", root()).replace("%s", root()))
                      .collectAsList()
                      .stream()
                      .map(Row::toString)
                      .sorted()
                      .toList()));
      settle(spark);
      return new Ran(rows, List.copyOf(Executed.PLANS), bytes.get(), records.get());
    }
  }

  private static void settle(SparkSession spark) {
    try {
      spark.sparkContext().listenerBus().waitUntilEmpty(60_000);
    } catch (TimeoutException e) {
      throw new AssertionError(e);
    }
  }

  /** The operators of a plan from top to bottom, without the rule's own. */
  private static List<String> operators(String plan) {
    List<String> operators = new ArrayList<>();
    Matcher operator = Pattern.compile("(?m)^[ +:\\-*]*(?:\\(\\d+\\) )?([A-Z]\\w+)").matcher(plan);
    while (operator.find()) {
      if (!operator.group(1).equals("S3EReads")) {
        operators.add(operator.group(1));
      }
    }
    return operators;
  }
}
