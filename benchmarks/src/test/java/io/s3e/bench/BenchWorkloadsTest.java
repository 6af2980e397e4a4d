// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.fasterxml.jackson.databind.JsonNode;
import io.s3e.testing.Seed;
import io.s3e.testing.Slow;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * The whole command at a small size: child JVMs, server, data, workloads, table and report. A JVM
 * of its own runs each workload by each engine, which is what takes the time, so a build takes two
 * kinds of workloads, other ones each time, and some of each; {@code -Ds3e.test.bench=all} runs
 * all, as each night.
 */
@Slow
class BenchWorkloadsTest {
  private static final int KINDS_OF_A_BUILD = 2;

  /** Drawn once: a test that is run again is found by its number. */
  private static final long SEED = Seed.draw();

  @TempDir private Path temp;

  private BenchRun.Outcome run(String... arguments) throws Exception {
    return new BenchRun(temp).run(arguments);
  }

  @TestFactory
  Stream<DynamicTest> someKindsOfWorkloads() {
    List<DynamicTest> kinds =
        new ArrayList<>(
            List.of(
                dynamicTest("streams", this::everyWorkloadIsMeasuredAndEveryByteRight),
                dynamicTest("columns", this::columnsAreReadByRealReadersAndBlockedTimeIsTold),
                dynamicTest("passes", this::passesAndProcessesAreToldApart),
                dynamicTest("JVMs", this::freshJvmsFileSystemsAndNeighbours)));
    if (BenchRun.isAll()) {
      return kinds.stream();
    }
    Collections.shuffle(kinds, new Random(SEED));
    return kinds.stream().limit(KINDS_OF_A_BUILD);
  }

  /** Streams, positioned reads, and vectored reads are measured in the main job. */
  private void everyWorkloadIsMeasuredAndEveryByteRight() throws Exception {
    List<String> workloads =
        BenchRun.some(List.of("seq", "back"), "parquet", "small", "seq2", "rnd", "vec");
    BenchRun.Outcome outcome =
        run(
            "--engines=classic,raw-crt-2,raw-sync-2",
            "--workloads=" + String.join(",", workloads),
            "--size=20",
            "--random-size=4",
            "--seek-size=6",
            "--objects=10",
            "--scale=0.001",
            "--rounds=1");

    assertThat(outcome.code()).isZero();
    for (String workload : workloads) {
      outcome.assertMeasured(workload, 0, "classic");
    }
    for (String engine : List.of("raw-crt-2", "raw-sync-2")) {
      JsonNode run = outcome.summary("seq", engine).get("runs").get(0);
      assertThat(outcome.bytesUsed("seq", engine)).isEqualTo(20 << 20);
      assertThat(run.get("server").get("operations").get("GET_OBJECT").get("requests").asLong())
          .isEqualTo(3);
    }
    assertThat(outcome.results().get("summaries"))
        .as("raw clients cannot go to and fro")
        .noneMatch(
            summary ->
                summary.get("engine").asText().startsWith("raw-")
                    && List.of("back", "parquet", "small")
                        .contains(summary.get("workload").asText()));
    JsonNode seq = outcome.summary("seq", "classic").get("runs").get(0).get("result");
    assertThat(seq.get("bytesUsed").asLong()).isEqualTo(20 << 20);
    JsonNode results = outcome.results();
    assertThat(results.get("engines").get("classic").get("fs.s3a.input.stream.type").asText())
        .isEqualTo("classic");
    assertThat(results.get("environment").fieldNames())
        .toIterable()
        .contains("processor", "processors", "memoryMiB", "os", "jvm")
        .contains("hadoop", "awsSdk", "awsCrt");
    assertThat(outcome.out()).contains("classic").contains("Every byte was right");
  }

  private void columnsAreReadByRealReadersAndBlockedTimeIsTold() throws Exception {
    List<String> workloads =
        BenchRun.some(List.of("scan-500", "orc"), "manyfiles-name", "manyfiles-status");
    BenchRun.Outcome outcome =
        run(
            "--engines=s3e,s3e-nocolumnar",
            "--workloads=" + String.join(",", workloads),
            "--size=6",
            "--files=3",
            "--scale=0.002",
            "--rounds=1");

    assertThat(outcome.code()).isZero();
    for (String workload : workloads) {
      for (String engine : List.of("s3e", "s3e-nocolumnar")) {
        JsonNode summary = outcome.summary(workload, engine);
        assertThat(summary.get("verdict").asText()).as(workload).startsWith("ok");
        JsonNode medians = summary.get("medians");
        assertThat(medians.get("blockedMillis").asDouble()).isPositive();
        assertThat(medians.get("blockedMillisPerGroup").asDouble()).isPositive();
        assertThat(medians.has("afterFirstGroupMegabytesPerSecond"))
            .isEqualTo(workload.equals("scan-500"));
      }
    }
    JsonNode paced = outcome.summary("scan-500", "s3e").get("medians");
    assertThat(paced.get("afterFirstGroupMegabytesPerSecond").asDouble())
        .as("no more than the consumer takes")
        .isBetween(0.0, 500.0);
    assertThat(outcome.out()).contains("to s3e-nocolumnar: MB/s", "later", "a group");
  }

  private void passesAndProcessesAreToldApart() throws Exception {
    List<String> twice = BenchRun.some(List.of("back-2"), "parquet-2");
    BenchRun.Outcome outcome =
        run(
            "--engines=classic,plain-file",
            "--workloads=share-2," + String.join(",", twice),
            "--size=12",
            "--seek-size=12",
            "--scale=0.001",
            "--stagger=0.1",
            "--rounds=1");

    assertThat(outcome.code()).isZero();
    for (String workload : twice) {
      for (int pass : List.of(1, 2)) {
        JsonNode classic = outcome.pass(workload, pass, "classic");
        assertThat(classic.get("verdict").asText()).startsWith("ok");
        assertThat(classic.get("medians").get("gets").asInt()).isPositive();
        assertThat(classic.get("medians").get("fetchedMegabytes").asDouble()).isPositive();
        assertThat(classic.get("ratios").get("toClassic").asDouble()).isEqualTo(1);
        JsonNode plain = outcome.pass(workload, pass, "plain-file");
        assertThat(plain.get("verdict").asText()).startsWith("ok");
        assertThat(plain.get("medians").get("gets").asInt()).isZero();
        assertThat(plain.get("ratios").get("toClassic").asDouble()).isPositive();
      }
    }
    JsonNode shared = outcome.summary("share-2", "classic");
    assertThat(shared.get("verdict").asText()).startsWith("ok");
    assertThat(shared.get("medians").get("fetchedPerObject").asDouble()).isEqualTo(2);
    JsonNode run = shared.get("runs").get(0);
    assertThat(run.get("result").get("bytesUsed").asLong()).isEqualTo(2 * (12 << 20));
    assertThat(run.get("processes")).hasSize(2);
    assertThat(run.get("processes").get(1).get("bytesUsed").asLong()).isEqualTo(12 << 20);
    assertThat(outcome.summary("share-2", "plain-file").get("verdict").asText()).startsWith("ok");
    assertThat(temp.resolve("report/report.html"))
        .content()
        .contains("back-2, pass 2", "seconds of each JVM");
  }

  private void freshJvmsFileSystemsAndNeighbours() throws Exception {
    BenchRun.Outcome outcome =
        run(
            "--engines=s3e,plain-file",
            "--workloads=cold,manyfs2,neighbour-idle",
            "--size=16",
            "--warm-up=0.1",
            "--cold-jvms=2",
            "--rounds=1");

    assertThat(outcome.code()).isZero();
    JsonNode cold = outcome.summary("cold", "s3e");
    assertThat(cold.get("verdict").asText()).startsWith("ok");
    assertThat(cold.get("runs")).as("a JVM each").hasSize(2);
    JsonNode ofCold = cold.get("medians");
    assertThat(ofCold.get("firstByteMillis").asDouble()).isPositive();
    assertThat(ofCold.get("clientCpuSeconds").asDouble()).isPositive();
    assertThat(ofCold.get("getsPerGigabyte").asDouble()).isPositive();
    assertThat(ofCold.get("dollarsPerTerabyte").asDouble()).isPositive();
    assertThat(ofCold.has("scanToAlone")).as("nobody measured it").isFalse();
    JsonNode many = outcome.summary("manyfs2", "s3e");
    assertThat(many.get("verdict").asText()).startsWith("ok");
    assertThat(many.get("runs")).hasSize(1);
    assertThat(many.get("medians").get("leastScanToFirst").asDouble()).isPositive();
    assertThat(many.get("medians").get("togetherToFirst").asDouble()).isPositive();
    JsonNode neighbour = outcome.summary("neighbour-idle", "s3e");
    assertThat(neighbour.get("verdict").asText()).startsWith("ok");
    assertThat(neighbour.get("medians").get("scanToAlone").asDouble()).isPositive();
    assertThat(neighbour.get("medians").get("p99ToAlone").asDouble()).isPositive();
    assertThat(outcome.bytesUsed("cold", "plain-file")).isEqualTo(16 << 20);
    assertThat(outcome.results().get("summaries"))
        .as("there are local copies of one bucket only")
        .hasSize(4);
    assertThat(outcome.out()).contains("1st ms", "all/first", "p99/alone", "USD/TB");
  }
}
