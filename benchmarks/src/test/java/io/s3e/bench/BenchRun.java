// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.s3e.testing.ForkedJvm;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine;

/** Runs the command {@code bench} below a directory, and reads the results that it wrote. */
final class BenchRun {

  /**
   * {@code -Ds3e.test.bench=all} runs each workload by each engine that a test names; without it,
   * some of those that are alike. The workloads themselves are tested in {@code WorkloadsTest}.
   */
  private static final boolean ALL = "all".equals(System.getProperty("s3e.test.bench"));

  private final Path temp;

  BenchRun(Path temp) {
    this.temp = temp;
  }

  /** Whether all are asked for. */
  static boolean isAll() {
    return ALL;
  }

  /** Some workloads or engines, and the others where all are asked for. */
  static List<String> some(List<String> always, String... others) {
    return ALL ? Stream.concat(always.stream(), Stream.of(others)).toList() : always;
  }

  record Outcome(int code, String out, JsonNode results) {
    /** The summary of a workload that does not repeat itself. */
    JsonNode summary(String workload, String engine) {
      return pass(workload, 0, engine);
    }

    JsonNode pass(String workload, int pass, String engine) {
      for (JsonNode summary : results.get("summaries")) {
        if (summary.get("workload").asText().equals(workload)
            && summary.path("pass").asInt() == pass
            && summary.get("engine").asText().equals(engine)) {
          return summary;
        }
      }
      throw new AssertionError(
          "No " + workload + " of pass " + pass + " by " + engine + " in " + results);
    }

    /** The figures of a workload whose every byte was right, and which the server counted. */
    void assertMeasured(String workload, int pass, String engine) {
      JsonNode summary = pass(workload, pass, engine);
      JsonNode run = summary.get("runs").get(0);
      assertThat(summary.get("verdict").asText()).as(workload).startsWith("ok");
      assertThat(summary.get("ratios").get("toClassic").asDouble()).isEqualTo(1);
      assertThat(run.get("result").get("wallNanos").asLong()).isPositive();
      assertThat(run.get("result").get("bytesUsed").asLong()).isPositive();
      assertThat(run.get("result").get("allocatedBytes").asLong()).isPositive();
      assertThat(run.get("result").get("peak").get("total").asLong()).isPositive();
      assertThat(summary.get("medians").fieldNames())
          .toIterable()
          .contains("megabytesPerSecond", "p50Millis", "p99Millis", "gets", "heads")
          .contains("waits", "fetchedPerUsed", "clientCpuSecondsPerGigabyte")
          .contains("serverCpuSecondsPerGigabyte", "allocatedMegabytesPerGigabyte")
          .contains("peakHeapMebibytes", "peakDirectMebibytes", "nativeGrowthMebibytes");
      assertThat(run.get("server").get("operations").get("GET_OBJECT").get("requests").asLong())
          .isPositive();
    }

    long bytesUsed(String workload, String engine) {
      JsonNode summary = summary(workload, engine);
      assertThat(summary.get("verdict").asText()).startsWith("ok");
      return summary.get("runs").get(0).get("result").get("bytesUsed").asLong();
    }

    String verdict(String workload, String engine) {
      return summary(workload, engine).get("verdict").asText();
    }
  }

  static int execute(StringWriter out, String... arguments) {
    return new CommandLine(new BenchCommand())
        .setOverwrittenOptionsAllowed(true)
        .setOut(new PrintWriter(out, true))
        .execute(arguments);
  }

  /** Runs with small settings, which the arguments may change, and every file in one place. */
  Outcome run(String... arguments) throws Exception {
    Path report = temp.resolve("report");
    Path work = temp.resolve("work");
    List<String> all = new ArrayList<>();
    all.addAll(List.of("--report", report.toString(), "--work-dir", work.toString()));
    all.addAll(List.of("--no-progress", "--warm-up=0", "--heap=256m"));
    ForkedJvm.SHORT_LIVED.forEach(option -> all.add("--jvm-option=" + option));
    ForkedJvm.UNVERIFIED.forEach(option -> all.add("--jvm-option=" + option));
    // It begins as an option of the command's own does.
    all.add("--jvm-option=-Djava.awt.headless=true");
    if (Stream.of(arguments).noneMatch(argument -> argument.startsWith("s3a://"))) {
      all.addAll(List.of("--ttfb=1", "--bandwidth=0"));
    }
    all.addAll(List.of(arguments));
    StringWriter out = new StringWriter();
    int code = execute(out, all.toArray(String[]::new));

    assertThat(report.resolve("report.html")).isNotEmptyFile();
    try (Stream<Path> left = Files.list(work)) {
      assertThat(left).as("what the run left behind").isEmpty();
    }
    JsonNode results = new ObjectMapper().readTree(report.resolve("results.json").toFile());
    return new Outcome(code, out.toString(), results);
  }
}
