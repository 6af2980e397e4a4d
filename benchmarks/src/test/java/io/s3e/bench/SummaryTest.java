// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.s3e.bench.report.OneTable;
import io.s3e.bench.report.TextTable;
import io.s3e.bench.server.Operation;
import io.s3e.bench.server.ServerStats;
import io.s3e.bench.workload.MemoryUse;
import io.s3e.bench.workload.Part;
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
        120_000_000,
        8,
        4,
        3_000_000_000L,
        300_000_000,
        5_000_000,
        memory,
        memory,
        0,
        Map.of("s3e_cache_hits", 3L, "s3e_cache_hit_bytes", 5_250_000L),
        List.of());
  }

  /** The same, of parts. */
  private static RunResult parts(Part... parts) {
    RunResult whole = gigabyteIn(1);
    return new RunResult(
        whole.status(),
        null,
        whole.wallNanos(),
        whole.bytesUsed(),
        whole.reads(),
        whole.readP50Nanos(),
        whole.readP99Nanos(),
        whole.blockedNanos(),
        whole.groups(),
        whole.waits(),
        whole.cpuNanos(),
        whole.compilerNanos(),
        whole.allocatedBytes(),
        whole.idle(),
        whole.peak(),
        0,
        Map.of(),
        List.of(parts));
  }

  /** A part of 100 MB in so many seconds, whose calls took so many ms. */
  private static Part part(Part.Kind kind, double seconds, long p50, long p99) {
    return new Part(kind, Math.round(seconds * 1e9), 100_000_000, p50 * 1_000_000, p99 * 1_000_000);
  }

  private static Summary of(String workload, Measurement... runs) {
    return new Summary(Engine.of("s3e", Map.of()), workload, 0, List.of(runs));
  }

  private static Measurement run(String workload, RunResult result) {
    return new Measurement("s3e", workload, 1, 1, result, List.of(), null);
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
  void theOneTableTellsWhatS3eIsToEachAndWhereItIsSlower() {
    List<Summary> won = List.of(summary("s3e", gigabyteIn(1)), summary("classic", gigabyteIn(10)));
    assertThat(OneTable.render(won))
        .contains("10.0 ×")
        .contains("S3E was slower than none of them by more than 3 %.")
        .contains("Every byte was right in every run.");
    List<Summary> lost =
        List.of(
            summary("s3e", gigabyteIn(2)),
            summary("classic", gigabyteIn(1)),
            summary("analytics", FAILURE));
    assertThat(OneTable.render(lost))
        .contains("S3E was slower in: seq, 0.50 × classic.")
        .contains("WRONG BYTES in 1 of 1 runs")
        .contains("but where a line below the engine says otherwise");
    assertThat(OneTable.render(lost).lines().map(String::length)).allMatch(n -> n <= 100);
  }

  @Test
  void aWrongByteOfS3eFailsTheJob() {
    Summary good = summary("s3e", gigabyteIn(1));
    Summary wrong = summary("classic", FAILURE);
    assertThat(BenchCommand.exitCode(List.of(good, wrong))).isZero();
    for (String engine : List.of("s3e", "s3e-host", "iceberg-s3e")) {
      assertThat(BenchCommand.exitCode(List.of(good, summary(engine, gigabyteIn(1), FAILURE))))
          .as(engine)
          .isEqualTo(1);
    }
    assertThat(BenchCommand.exitCode(List.of(wrong))).isEqualTo(1);
  }

  @Test
  void theOneTableNamesWhereS3eHasNoFigure() {
    List<Summary> failed = List.of(summary("s3e", FAILURE), summary("classic", gigabyteIn(1)));
    assertThat(OneTable.render(failed))
        .contains("\nseq: S3E has no figure.\n")
        .doesNotContain("slower than none");
    List<Summary> others =
        List.of(
            summary("s3e", FAILURE),
            summary("classic", gigabyteIn(1)),
            vec("s3e", 100),
            vec("classic", 800));
    assertThat(OneTable.render(others))
        .contains(
            "\n"
                + "seq: S3E has no figure.\n"
                + "Elsewhere S3E was slower than none of them by more than 3 %.\n");
    List<Summary> some =
        List.of(summary("s3e", FAILURE, gigabyteIn(1)), summary("classic", gigabyteIn(1)));
    assertThat(OneTable.render(some))
        .contains("S3E was slower than none of them by more than 3 %.");
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
            summary("raw-crt-bytes-32", gigabyteIn(0.2), FAILURE));

    String table = TextTable.render(all);

    assertThat(table.lines().takeWhile(line -> !line.isEmpty()))
        .allSatisfy(line -> assertThat(line.length()).isLessThanOrEqualTo(132))
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

  private static Summary vec(String engine, long... blockedMillis) {
    List<Measurement> runs =
        IntStream.range(0, blockedMillis.length)
            .mapToObj(
                i ->
                    new Measurement(
                        engine, "vec", i + 1, 1, blocked(blockedMillis[i]), List.of(), null))
            .toList();
    return new Summary(Engine.of(engine, Map.of()), "vec", 0, runs);
  }

  /** A run of 1 GB in 8 row groups within 2 s. */
  private static RunResult blocked(long millis) {
    RunResult whole = gigabyteIn(2);
    return new RunResult(
        whole.status(),
        null,
        whole.wallNanos(),
        whole.bytesUsed(),
        whole.reads(),
        whole.readP50Nanos(),
        whole.readP99Nanos(),
        millis * 1_000_000,
        whole.groups(),
        whole.waits(),
        whole.cpuNanos(),
        whole.compilerNanos(),
        whole.allocatedBytes(),
        whole.idle(),
        whole.peak(),
        0,
        Map.of("s3e_columnar_footers", 1L, "s3e_columnar_tail_used_bytes", 65_536L),
        List.of());
  }

  @Test
  void timeInReadsIsComparedRoundByRound() {
    List<Summary> all =
        List.of(vec("s3e", 100, 120, 240), vec("analytics", 400, 800, 400), vec("classic", 800));

    assertThat(all.get(0).median(Measurement::blockedMillis)).isEqualTo(120);
    assertThat(all.get(0).median(Measurement::blockedMillisPerGroup)).isEqualTo(15);
    assertThat(all.get(0).ratios(all.get(1), Measurement::blockedMillis))
        .containsExactly(0.15, 0.25, 0.6);
    String table = TextTable.render(all);
    assertThat(table)
        .contains("blocked", "a group", "HEADs", "f/used")
        .contains("to analytics: MB/s 1.00 (1.00 to 1.00), blocked 0.30 (0.15 to 0.60)")
        .contains("to classic: MB/s 1.00 (1.00 to 1.00), blocked 0.15 (0.13 to 0.13)")
        .contains("columns: footers 1, tail used 0.1 MB")
        .doesNotContain("to s3e:");
    assertThat(table.lines().takeWhile(line -> !line.isEmpty()))
        .allSatisfy(line -> assertThat(line.length()).isLessThanOrEqualTo(132));
  }

  @Test
  void aRunWithoutFiguresHasNoTimeInReadsAndSeveralJvmsHaveTheirSum() {
    RunResult text = RunResult.withoutFigures(RunResult.Status.OK, null);
    Summary summary = summary("s3e", text);

    assertThat(summary.median(Measurement::blockedMillis)).isNaN();
    assertThat(summary.median(Measurement::blockedMillisPerGroup)).isNaN();
    assertThat(RunResult.together(List.of(blocked(3), blocked(5))).blockedNanos())
        .as("of both")
        .isEqualTo(8_000_000);
  }

  @Test
  void requestsHaveAPrice() {
    ServerStats server =
        new ServerStats(
            Map.of(
                Operation.GET_OBJECT, new ServerStats.Counts(249, 0, 0, 0, 1_000_000_000),
                Operation.HEAD_OBJECT, new ServerStats.Counts(1, 0, 0, 0, 0)),
            0,
            0,
            0);
    Summary summary =
        of("seq", new Measurement("s3e", "seq", 1, 1, gigabyteIn(1), List.of(), server));

    assertThat(summary.median(Measurement::getsPerGigabyte)).isEqualTo(249);
    assertThat(summary.median(Measurement::requestDollarsPerTerabyte))
        .as("250,000 requests for a TB at 0.0004 USD for 1,000")
        .isCloseTo(0.1, within(1e-9));
    double processor = 3_000 * 0.05 / 3600;
    double blocked = 0.12 * 1_000 * 0.05 / 3600;
    assertThat(summary.median(Measurement::dollarsPerTerabyte))
        .as("with 3 s of processor time a GB, and the slot blocked for 0.12 s")
        .isCloseTo(0.1 + processor + blocked, within(1e-9));
    assertThat(TextTable.render(List.of(summary))).contains("USD/TB");
  }

  @Test
  void theFirstByteIsToldOfEachJvm() {
    Summary cold =
        of(
            "cold",
            run(
                "cold",
                parts(part(Part.Kind.FIRST_BYTE, 0.3, 1, 1), part(Part.Kind.WHOLE, 1, 1, 1))),
            run(
                "cold",
                parts(part(Part.Kind.FIRST_BYTE, 0.2, 1, 1), part(Part.Kind.WHOLE, 0.5, 1, 1))));

    assertThat(cold.median(Measurement::firstByteMillis)).isEqualTo(250);
    assertThat(cold.median(Measurement::megabytesPerSecond)).as("of the whole").isEqualTo(150);
    assertThat(cold.median(Measurement::clientCpuSeconds)).isEqualTo(3);
    assertThat(TextTable.render(List.of(cold)))
        .contains("1st ms")
        .contains("ms to the first byte, each JVM: 200 300");
  }

  @Test
  void fileSystemsAreComparedWithTheFirst() {
    Summary many =
        of(
            "manyfs3",
            run(
                "manyfs3",
                parts(
                    part(Part.Kind.IN_TURN, 1, 1, 1),
                    part(Part.Kind.IN_TURN, 4, 1, 1),
                    part(Part.Kind.IN_TURN, 2, 1, 1),
                    part(Part.Kind.TOGETHER, 0.4, 1, 1))));

    assertThat(many.median(Measurement::firstScanMegabytesPerSecond)).isEqualTo(100);
    assertThat(many.median(Measurement::medianScanToFirst)).isEqualTo(0.5);
    assertThat(many.median(Measurement::leastScanToFirst)).isEqualTo(0.25);
    assertThat(many.median(Measurement::togetherToFirst)).isEqualTo(2.5);
    assertThat(many.median(Measurement::megabytesPerSecond)).as("all at once").isEqualTo(250);
    assertThat(many.median(Measurement::scanToAlone)).isNaN();
    assertThat(TextTable.render(List.of(many))).contains("all/first").contains("2.50");
  }

  @Test
  void aDisturbedReaderIsComparedWithItself() {
    Summary neighbour =
        of(
            "neighbour-full",
            run(
                "neighbour-full",
                parts(
                    part(Part.Kind.READS_ALONE, 1, 30, 40),
                    part(Part.Kind.SCAN_ALONE, 0.1, 1, 1),
                    part(Part.Kind.READS_DISTURBED, 1, 33, 100),
                    part(Part.Kind.SCAN_DISTURBED, 0.2, 1, 1))));

    assertThat(neighbour.median(Measurement::scanAloneMegabytesPerSecond)).isEqualTo(1000);
    assertThat(neighbour.median(Measurement::scanToAlone)).isEqualTo(0.5);
    assertThat(neighbour.median(Measurement::p50ToAlone)).isCloseTo(1.1, within(1e-9));
    assertThat(neighbour.median(Measurement::p99ToAlone)).isEqualTo(2.5);
    assertThat(TextTable.render(List.of(neighbour)).lines().limit(2))
        .allSatisfy(line -> assertThat(line.length()).isLessThanOrEqualTo(132))
        .first()
        .satisfies(head -> assertThat(head).contains("/alone", "p99/alone", "USD/TB"));
  }

  @Test
  void oneFailedProcessFailsThemAll() {
    RunResult together = RunResult.together(List.of(gigabyteIn(1), FAILURE));

    assertThat(together.status()).isEqualTo(RunResult.Status.WRONG_BYTES);
    assertThat(together.failure()).isEqualTo("JVM 2 of 2: wrong byte at 7");
  }
}
