package io.s3e.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.bench.report.TextTable;
import io.s3e.bench.workload.MemoryUse;
import io.s3e.bench.workload.RunResult;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SummaryTest {

  private static final RunResult FAILURE =
      RunResult.withoutFigures(RunResult.Status.WRONG_BYTES, "wrong byte at 7");

  /** A run of 1 GB in so many seconds. */
  private static RunResult gigabyteIn(double seconds) {
    MemoryUse memory = new MemoryUse(1 << 20, 2 << 20, 3 << 20, 4 << 20, 10 << 20);
    return new RunResult(
        RunResult.Status.OK,
        null,
        Math.round(seconds * 1e9),
        1_000_000_000,
        10,
        2_000_000,
        9_000_000,
        4,
        3_000_000_000L,
        5_000_000,
        memory,
        memory,
        0);
  }

  private static Summary summary(String engine, RunResult... results) {
    List<Measurement> runs =
        IntStream.range(0, results.length)
            .mapToObj(i -> new Measurement(engine, "seq", i + 1, results[i], null))
            .toList();
    return new Summary(Engine.of(engine, Map.of()), "seq", runs);
  }

  @Test
  void medianAndSpreadAreOverGoodRunsOnly() {
    Summary summary = summary("classic", gigabyteIn(10), FAILURE, gigabyteIn(5), gigabyteIn(20));

    assertThat(summary.median(Measurement::megabytesPerSecond)).isEqualTo(100);
    assertThat(summary.spread(Measurement::megabytesPerSecond)).isEqualTo(1.5);
    assertThat(summary.median(Measurement::clientCpuPerGigabyte)).isEqualTo(3);
    assertThat(summary.verdict()).isEqualTo("WRONG BYTES in 1 of 4 runs: wrong byte at 7");
  }

  @Test
  void ratiosAreToClassicAndToTheBestOfS3a() {
    List<Summary> all =
        List.of(
            summary("s3e", gigabyteIn(1)),
            summary("classic", gigabyteIn(10)),
            summary("prefetch", gigabyteIn(2)),
            summary("analytics", FAILURE));

    assertThat(Summary.classic(all, "seq")).isEqualTo(100);
    assertThat(Summary.bestS3a(all, "seq")).isEqualTo(500);
    assertThat(TextTable.render(all)).contains("10.00").contains("2.00");
  }

  @Test
  void ratiosToTheFastestRawClient() {
    List<Summary> all =
        List.of(
            summary("s3e", gigabyteIn(2)),
            summary("raw-crt-16", gigabyteIn(1.6)),
            summary("raw-sync-16", gigabyteIn(4)));

    assertThat(Summary.bestRaw(all, "seq")).isEqualTo(625);
    assertThat(Summary.bestS3a(all, "seq")).as("a raw client is none of S3A's").isNaN();
    assertThat(TextTable.render(all)).contains("0.80");
  }

  @Test
  void theTableFitsATerminal() {
    List<Summary> all =
        List.of(
            summary("analytics-tuned", gigabyteIn(99), gigabyteIn(0.1)),
            summary("raw-crtbuilder-32", gigabyteIn(0.2), FAILURE));

    String table = TextTable.render(all);

    assertThat(table.lines().takeWhile(line -> !line.isEmpty()))
        .allSatisfy(line -> assertThat(line.length()).isLessThanOrEqualTo(120))
        .anySatisfy(line -> assertThat(line).contains("WRONG BYTES in 1 of 2 runs"));
  }

  @Test
  void whatNobodyMeasuredIsNotAvailable() {
    Summary summary = summary("analytics", FAILURE);

    assertThat(summary.median(Measurement::megabytesPerSecond)).isNaN();
    assertThat(Summary.bestS3a(List.of(summary), "seq")).isNaN();
    assertThat(TextTable.render(List.of(summary)).lines().skip(1).findFirst().orElseThrow())
        .contains("–")
        .doesNotContain("NaN");
  }
}
