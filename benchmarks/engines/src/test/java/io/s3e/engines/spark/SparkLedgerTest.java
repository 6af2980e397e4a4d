// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.spark;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.s3e.engines.Outcome;
import io.s3e.engines.Store;
import io.s3e.engines.Stream;
import io.s3e.engines.spark.job.Steps;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Why was this byte fetched: the lines of GETs of a Spark that reads the tables of TPC-H from two
 * file systems, of which 5 % of GETs are refused and some are late enough for a hedge. The lines
 * are the counters and the server's log, to the GET and to the byte.
 */
class SparkLedgerTest {
  private static final List<Integer> QUERIES = List.of(1, 3, 6, 12, 14, 19);

  @TempDir private static Path directory;
  private static Store store;
  private static SparkHome spark;

  @BeforeAll
  static void start() throws Exception {
    spark = SparkHome.of("spark-4.1");
    store = Store.startRefusingAndLate(directory);
    SparkTpchTest.generate(store, 0.05, List.of("parquet", "csv"));
  }

  @AfterAll
  static void stop() throws IOException {
    store.close();
  }

  private static List<String> steps() throws IOException {
    String one = store.bucketOfSameObjects();
    String other = store.bucketOfSameObjects();
    List<String> steps = new ArrayList<>();
    for (String format : List.of("parquet", "csv")) {
      for (String root : List.of(one, other)) {
        steps.add("tables " + format + " " + root + "tpch-0.05");
        QUERIES.forEach(query -> steps.add("query " + query));
      }
    }
    // What is in memory unread is wasted then: nothing is held any more.
    steps.add("forget " + one);
    steps.add("forget " + other);
    steps.add("metrics");
    return steps;
  }

  /** The last line of each GET. */
  private static Collection<JsonNode> lines(Path files) throws IOException {
    ObjectMapper json = new ObjectMapper();
    Map<Long, JsonNode> last = new LinkedHashMap<>();
    List<Path> ofEngine;
    try (var all = Files.list(files)) {
      ofEngine =
          all.sorted((a, b) -> Integer.compare(number(a), number(b))).collect(Collectors.toList());
    }
    assertThat(ofEngine).as("none was deleted").hasSizeLessThan(8);
    for (Path file : ofEngine) {
      for (String line : Files.readAllLines(file)) {
        JsonNode get = json.readTree(line);
        last.put(get.get("id").longValue(), get);
      }
    }
    return last.values();
  }

  /** Which of the files of an engine it is. */
  private static int number(Path file) {
    String name = file.getFileName().toString();
    return Integer.parseInt(name.replaceAll(".*-(\\d+)\\.jsonl", "$1"));
  }

  private static Map<String, Long> metrics(Outcome outcome) {
    Map<String, Long> metrics = new HashMap<>();
    for (String line : outcome.output()) {
      if (line.startsWith(Steps.METRIC)) {
        String[] words = line.substring(Steps.METRIC.length()).split("=", 2);
        metrics.put(words[0], Long.parseLong(words[1]));
      }
    }
    return metrics;
  }

  private static long sum(Collection<JsonNode> lines, String figure) {
    return lines.stream().mapToLong(line -> line.get(figure).longValue()).sum();
  }

  @Test
  void linesAreTheCountersAndTheServersLog() throws Exception {
    Path files = directory.resolve("lines");
    SparkRun.Done done =
        SparkRun.of(spark, Stream.PLUGIN, store, "ledger")
            .jars(List.of(SparkHome.line()))
            .conf("spark.plugins", "io.s3e.spark.S3EPlugin")
            .conf("spark.s3e.explain", files.toString())
            .conf("spark.s3e.cache.mode", "memory")
            .conf("spark.metrics.conf.*.sink.jmx.class", "org.apache.spark.metrics.sink.JmxSink")
            .run(steps());
    Outcome outcome = done.outcome();
    assertThat(outcome.exitCode()).as(String.join("\n", outcome.output())).isZero();
    assertThat(outcome.traffic().gets()).isEqualTo(outcome.traffic().getsByS3E());

    Collection<JsonNode> lines = lines(files);
    Map<String, Long> counted = metrics(outcome);
    long log = outcome.traffic().getsByS3E();
    assertThat(sum(lines, "sent")).as("GETs by lines").isEqualTo(log);
    assertThat(counted.get("gets")).as("GETs by counters").isEqualTo(log);
    assertThat(sum(lines, "received")).isEqualTo(counted.get("bytesFromS3"));
    assertThat(sum(lines, "used")).isEqualTo(counted.get("usedBytes"));
    assertThat(sum(lines, "wasted")).isEqualTo(counted.get("wastedBytes"));
    assertThat(sum(lines, "held")).isEqualTo(counted.get("heldBytes")).isZero();
    assertThat(lines)
        .allSatisfy(
            line ->
                assertThat(line.get("used").longValue() + line.get("wasted").longValue())
                    .as("%s", line)
                    .isEqualTo(line.get("received").longValue()));
    assertThatTheDayWasBad(lines, counted, outcome);
  }

  private static void assertThatTheDayWasBad(
      Collection<JsonNode> lines, Map<String, Long> counted, Outcome outcome) {
    long refused =
        outcome.traffic().requests().stream()
            .filter(each -> each.isGet() && each.status() == 503)
            .count();
    assertThat(refused).as("refused GETs").isGreaterThan(outcome.traffic().gets() / 25);
    assertThat(counted.get("retries")).isPositive();
    assertThat(counted.get("hedges")).isPositive();
    assertThat(lines)
        .filteredOn(line -> line.get("reason").asText().equals("HEDGE"))
        .hasSize(Math.toIntExact(counted.get("hedges")));
    Set<String> buckets =
        lines.stream().map(line -> line.get("bucket").asText()).collect(Collectors.toSet());
    assertThat(buckets).as("buckets").hasSize(2);
    assertThat(lines)
        .filteredOn(line -> line.path("label").asText().matches("stage \\d+, task \\d+"))
        .as("lines of tasks")
        .hasSizeGreaterThan(lines.size() * 9 / 10);
  }
}
