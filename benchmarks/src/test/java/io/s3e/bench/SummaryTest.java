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
        0,
        Map.of("s3e_cache_hits", 3L, "s3e_cache_hit_bytes", 5_250_000L));
  }

  private static Summary summary(String engine, RunResult... results) {
    List<Measurement> runs =
        IntStream.range(0, results.length)
            .mapToObj(i -> new Measurement(engine, "seq", i + 1, 1, results[i], List.of(), null))
            .toList();
    return new Summary(Engine.of(engine, Map.of()), "seq", 0, runs);
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

  private static Summary pass(String engine, int pass, RunResult result) {
    Measurement run = new Measurement(engine, "back-2", 1, pass, result, List.of(), null);
    return new Summary(Engine.of(engine, Map.of()), "back-2", pass, List.of(run));
  }

  @Test
  void passesAreComparedWithTheirEquals() {
    List<Summary> all =
        List.of(
            pass("s3e", 1, gigabyteIn(5)),
            pass("classic", 1, gigabyteIn(10)),
            pass("s3e", 2, gigabyteIn(1)),
            pass("classic", 2, gigabyteIn(8)));

    assertThat(all.get(2).section()).isEqualTo("back-2, pass 2");
    assertThat(Summary.classic(all, "back-2, pass 2")).isEqualTo(125);
    String table = TextTable.render(all);
    assertThat(table).contains("back-2, pass 1").contains("2.00").contains("8.00");
    assertThat(table.lines().filter(line -> line.startsWith("back-2")))
        .allSatisfy(head -> assertThat(head).contains("MB sent").contains("GETs"));
  }

  @Test
  void plainReadsAreTheCeilingOfTheDisk() {
    List<Summary> all =
        List.of(
            pass("s3e", 2, gigabyteIn(1.25)),
            pass("plain-file", 2, gigabyteIn(1)),
            pass("plain-hadoop", 2, gigabyteIn(2)));

    assertThat(Summary.bestFile(all, "back-2, pass 2")).isEqualTo(1000);
    assertThat(Summary.bestS3a(all, "back-2, pass 2")).isNaN();
    assertThat(TextTable.render(all)).contains("/file").contains("0.80").doesNotContain("/raw");
  }

  @Test
  void processesAreToldApart() {
    RunResult slow = gigabyteIn(4);
    RunResult fast = gigabyteIn(2);
    RunResult together = RunResult.together(List.of(fast, slow));
    Measurement run = new Measurement("s3e", "share-2", 1, 1, together, List.of(fast, slow), null);
    Summary summary = new Summary(Engine.of("s3e", Map.of()), "share-2", 0, List.of(run));

    assertThat(summary.median(Measurement::seconds)).isEqualTo(4);
    assertThat(summary.median(Measurement::megabytesPerSecond)).isEqualTo(500);
    assertThat(summary.median(Measurement::clientCpuPerGigabyte)).isEqualTo(3);
    assertThat(together.peak().total()).isEqualTo(20 << 20);
    assertThat(summary.processSeconds()).containsExactly(2.0, 4.0);
    assertThat(TextTable.render(List.of(summary)))
        .contains("f/object")
        .contains("seconds of each JVM: 2.00 4.00")
        .contains("disk: hit 10.5 MB, hits 6");
  }

  @Test
  void oneFailedProcessFailsThemAll() {
    RunResult together = RunResult.together(List.of(gigabyteIn(1), FAILURE));

    assertThat(together.status()).isEqualTo(RunResult.Status.WRONG_BYTES);
    assertThat(together.failure()).isEqualTo("JVM 2 of 2: wrong byte at 7");
  }
}
