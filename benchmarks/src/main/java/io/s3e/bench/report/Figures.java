package io.s3e.bench.report;

import io.s3e.bench.Measurement;
import io.s3e.bench.Summary;
import java.util.List;
import java.util.Locale;

/** The columns of the table, and how their figures are written. What was not measured is n/a. */
final class Figures {

  /** The heads of the columns, in order. */
  static final List<String> HEADS =
      List.of(
          "workload",
          "engine",
          "MB/s",
          "spread",
          "x classic",
          "x best S3A",
          "p50 ms",
          "p99 ms",
          "GETs",
          "fetched/used",
          "peak MiB",
          "CPU s/GB",
          "server s/GB",
          "verdict");

  /** What each column means, for the foot of the report. */
  static final List<String> EXPLANATIONS =
      List.of(
          "MB/s: bytes the application used a second (10^6), from open to close, comparison of"
              + " every byte included; median of the rounds.",
          "spread: largest minus smallest round, as a share of the median.",
          "x classic, x best S3A: MB/s divided by that of S3A's classic stream, and of the fastest"
              + " of S3A's own streams in this workload.",
          "p50, p99: time of one call of the application: a read of 1 MiB (seq), a positioned read"
              + " of 256 KiB (rnd), a row group (parquet), a seek and read of 1 MiB (back).",
          "GETs, fetched/used: object GETs and body bytes that the server counted.",
          "peak MiB: most anonymous memory of the engine's own JVM: heap, direct and native.",
          "CPU s/GB: processor time of the engine's JVM for each GB (10^9) used, without the"
              + " comparison; server s/GB: that of the server's process.",
          "n/a: not measured.");

  private Figures() {}

  /** One row of the table. */
  static List<String> row(Summary summary, List<Summary> all) {
    double rate = summary.median(Measurement::megabytesPerSecond);
    return List.of(
        summary.workload(),
        summary.engine().name(),
        number(rate, 0),
        percent(summary.spread(Measurement::megabytesPerSecond)),
        number(rate / Summary.classic(all, summary.workload()), 2),
        number(rate / Summary.bestS3a(all, summary.workload()), 2),
        number(summary.median(Measurement::p50Millis), 1),
        number(summary.median(Measurement::p99Millis), 1),
        number(summary.median(Measurement::gets), 0),
        number(summary.median(Measurement::fetchedPerUsed), 2),
        number(summary.median(Measurement::peakResidentMebibytes), 0),
        number(summary.median(Measurement::clientCpuPerGigabyte), 2),
        number(summary.median(Measurement::serverCpuPerGigabyte), 2),
        summary.verdict());
  }

  private static String number(double value, int decimals) {
    return Double.isFinite(value)
        ? String.format(Locale.ROOT, "%." + decimals + "f", value)
        : "n/a";
  }

  private static String percent(double share) {
    return Double.isFinite(share) ? number(share * 100, 0) + " %" : "n/a";
  }
}
