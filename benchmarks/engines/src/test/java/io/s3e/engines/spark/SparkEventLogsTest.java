// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.spark;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.github.luben.zstd.ZstdOutputStream;
import io.s3e.cli.S3eCommand;
import io.s3e.cli.StandardStreams;
import io.s3e.engines.Harness;
import io.s3e.engines.Store;
import io.s3e.engines.Stream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileUtil;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * {@code s3e explain} on the event logs of real runs: each has one thing that costs, which is found
 * first; a clean one has none.
 *
 * <p>With {@code -Ds3e.explain.write=DIRECTORY} the logs are written there without what is of this
 * machine: the resources of the tests of {@code io.s3e.explain}.
 */
class SparkEventLogsTest {
  private static final String TABLE = "parquet.`" + Store.ROOT;
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Of a job, what its log is read for. */
  private static final List<String> PROPERTIES =
      List.of("spark.job.description", "callSite.short", "spark.sql.execution.id");

  @TempDir private static Path directory;
  private static Store store;
  private static SparkHome spark;

  /** A run, and the finding that is to be ranked first. */
  enum Case {
    SMALL_FILES(2, Map.of(), "SELECT sum(a) FROM " + TABLE + "small`"),
    LARGE_ROW_GROUPS(
        2,
        Map.of("spark.sql.files.maxPartitionBytes", "1m"),
        "SELECT sum(a) FROM " + TABLE + "one`"),
    UNSPLITTABLE_FILES(
        4,
        Map.of("spark.sql.files.maxPartitionBytes", "2m"),
        "SELECT sum(a) FROM json.`" + Store.ROOT + "gzip`"),
    FILTER_WITHOUT_PRUNING(
        2, Map.of(), "SELECT sum(b) FROM " + TABLE + "wide` WHERE a = xxhash64(5L, 1)"),
    THROTTLED(2, Map.of(), "SELECT sum(a + b + c + d + e + f) FROM parquet.`REFUSINGwide`"),
    MEMORY_BUDGET(
        4,
        Map.of("spark.s3e.memory.budget", "24m", "spark.s3e.cache.mode", "memory"),
        "SELECT sum(a + b + c + d + e + f) FROM " + TABLE + "wide`"),
    READ_AGAIN(
        2,
        Map.of("spark.s3e.memory.budget", "96m", "spark.s3e.cache.mode", "memory"),
        "SELECT sum(a + b + c + d + e + f) FROM " + TABLE + "wide`",
        "SELECT max(a + b + c + d + e + f) FROM " + TABLE + "wide`",
        "SELECT min(a + b + c + d + e + f) FROM " + TABLE + "wide`"),
    IDLE_SLOTS(
        8,
        Map.of(),
        "SELECT sum(aggregate(sequence(0, 20), a, (x, i) -> xxhash64(x, i))) FROM "
            + TABLE
            + "one`"),
    NOT_S3(
        2,
        Map.of(),
        "SELECT sum(aggregate(sequence(0, 40), a, (x, i) -> xxhash64(x, i))) FROM "
            + TABLE
            + "wide`"),
    PLAIN_S3A(2, Map.of(), "SELECT sum(a + b + c + d + e + f) FROM " + TABLE + "wide`"),
    SMALL_ROW_GROUPS(
        2, Map.of(), "SELECT sum(a + b + c + d + e + f) FROM " + TABLE + "small-groups`"),
    LARGE_FOOTERS(2, Map.of(), "SELECT max(c1) FROM " + TABLE + "footers`"),
    CLEAN(2, Map.of());

    private final int cores;
    private final Map<String, String> conf;
    private final List<String> queries;

    Case(int cores, Map<String, String> conf, String... queries) {
      this.cores = cores;
      this.conf = conf;
      this.queries = List.of(queries);
    }

    String file() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  @BeforeAll
  static void write() throws Exception {
    spark = SparkHome.of("spark-4.1");
    store = Store.startRefusing(directory);
    SparkTpchTest.generate(store, 0.1, List.of("parquet"));
    // Texts of 1,900 letters, whose least and greatest values stand in the footer.
    String columns =
        IntStream.range(0, 300)
            .mapToObj(i -> "repeat(char(97 + id % 26), 1900) AS c" + i)
            .collect(Collectors.joining(", "));
    List<String> steps =
        List.of(
            "files 300 2000 parquet " + Store.ROOT + "small",
            "files 1 600000 parquet " + Store.ROOT + "one",
            "files 1 300000 json_gz " + Store.ROOT + "gzip",
            "files 4 1000000 parquet " + Store.ROOT + "wide",
            "sql INSERT OVERWRITE DIRECTORY '"
                + Store.ROOT
                + "footers' USING parquet SELECT "
                + columns
                + " FROM range(0, 720, 1, 12)",
            "sql SET parquet.block.size=1048576",
            "sql SET parquet.block.size.row.check.min=1000",
            "sql SET parquet.page.size.row.check.min=1000",
            "files 2 1500000 parquet " + Store.ROOT + "small-groups");
    Map<String, String> conf = Map.of();
    try (Driver driver =
        Driver.start(
            new Driver.Settings(spark, "local[2]", "2g", conf),
            Stream.CLASSIC,
            store,
            directory.resolve("writing"))) {
      for (String step : steps) {
        driver.run(step);
      }
    }
  }

  @AfterAll
  static void stop() throws IOException {
    store.close();
  }

  @ParameterizedTest
  @EnumSource(Case.class)
  void whatCostsMostIsFoundFirst(Case what) throws Exception {
    Path log = run(what);
    String to = System.getProperty("s3e.explain.write", "");
    if (!to.isEmpty()) {
      writeWithoutMachine(log, Path.of(to).resolve(what.file() + ".zstd"));
    }
    List<String> kinds = new ArrayList<>();
    JsonNode document = explain(log);
    document
        .path("applications")
        .path(0)
        .path("findings")
        .forEach(finding -> kinds.add(finding.path("kind").asText()));
    if (what == Case.CLEAN) {
      assertThat(kinds).as("%s", document).isEmpty();
    } else {
      assertThat(kinds).as("%s", document).startsWith(what.name());
    }
  }

  private static Path run(Case what) throws IOException, InterruptedException {
    Path logs = Harness.OUTPUT.resolve("event-logs").resolve(what.file());
    FileUtil.fullyDelete(logs.toFile());
    Files.createDirectories(logs);
    Map<String, String> conf = new HashMap<>(what.conf);
    conf.put("spark.eventLog.enabled", "true");
    conf.put("spark.eventLog.compress", "false");
    conf.put("spark.sql.ansi.enabled", "false");
    conf.put("spark.driver.host", "localhost");
    conf.put("spark.driver.bindAddress", "127.0.0.1");
    conf.put("spark.eventLog.dir", logs.toUri().toString());
    conf.put("spark.app.name", what.file());
    conf.put("spark.sql.shuffle.partitions", Integer.toString(2 * what.cores));
    String refusing = store.bucketOfSameObjects();
    Stream stream = what == Case.PLAIN_S3A ? Stream.CLASSIC : Stream.PLUGIN;
    try (Driver driver =
        Driver.start(
            new Driver.Settings(spark, "local[" + what.cores + "]", "2g", conf),
            stream,
            store,
            directory.resolve(what.file()))) {
      if (what == Case.CLEAN) {
        driver.run("tables parquet " + Store.ROOT + "tpch-0.1");
        for (int query : List.of(1, 6, 14)) {
          driver.run("query " + query);
        }
      }
      for (String query : what.queries) {
        driver.run("sql " + query.replace("REFUSING", refusing));
      }
    }
    return logs;
  }

  private static JsonNode explain(Path log) throws IOException {
    Path site = Files.createTempFile(directory, "core-site", ".xml");
    Configuration conf = new Configuration(false);
    store.keys().forEach(conf::set);
    try (var out = Files.newOutputStream(site)) {
      conf.writeXml(out);
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    int code =
        S3eCommand.execute(
            new StandardStreams(
                InputStream.nullInputStream(),
                out,
                new PrintStream(err, true, StandardCharsets.UTF_8),
                false),
            "explain",
            "--json",
            "--look",
            "--conf",
            site.toString(),
            log.toString());
    assertThat(code).as("%s", err.toString(StandardCharsets.UTF_8)).isZero();
    return JSON.readTree(out.toByteArray());
  }

  /** All events; of the environment the settings of reading alone, and no name of this machine. */
  private static void writeWithoutMachine(Path logs, Path file) throws IOException {
    List<String> lines = new ArrayList<>();
    try (var files = Files.walk(logs)) {
      for (Path part :
          files
              .filter(path -> path.getFileName().toString().startsWith("events_"))
              .sorted()
              .toList()) {
        for (String line : Files.readAllLines(part)) {
          lines.add(JSON.writeValueAsString(withoutMachine((ObjectNode) JSON.readTree(line))));
        }
      }
    }
    Files.createDirectories(file.getParent());
    try (ZstdOutputStream out = new ZstdOutputStream(Files.newOutputStream(file), 19)) {
      out.write((String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8));
    }
  }

  private static ObjectNode withoutMachine(ObjectNode event) {
    switch (event.path("Event").asText()) {
      case "SparkListenerEnvironmentUpdate" -> {
        ObjectNode spark = JSON.createObjectNode();
        event
            .path("Spark Properties")
            .properties()
            .forEach(
                setting -> {
                  if (setting
                      .getKey()
                      .matches("spark\\.(sql\\.files|s3e|master|app\\.name|task).*")) {
                    spark.set(setting.getKey(), setting.getValue());
                  }
                });
        event.removeAll();
        event.put("Event", "SparkListenerEnvironmentUpdate").set("Spark Properties", spark);
      }
      case "SparkListenerApplicationStart" -> event.put("User", "user");
      case "SparkListenerResourceProfileAdded", "SparkListenerBlockManagerAdded" ->
          event.retain("Event");
      case "SparkListenerJobStart" -> ((ObjectNode) event.path("Properties")).retain(PROPERTIES);
      case "SparkListenerStageSubmitted" ->
          ((ObjectNode) event.path("Properties")).retain(PROPERTIES);
      default -> {}
    }
    return event;
  }
}
