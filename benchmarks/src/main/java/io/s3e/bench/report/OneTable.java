// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.report;

import io.s3e.bench.Summary;
import io.s3e.bench.workload.WorkloadKind;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The table for who has a minute: below what is read, S3E and each of the others, how many times as
 * fast S3E was, and what it took. What S3E loses stands below it by itself, and where S3E has no
 * figure. At most 100 columns.
 */
public final class OneTable {

  private static final String S3E = "s3e";
  private static final String ICEBERG_S3E = "iceberg-s3e";
  private static final String ROW = "  %-18s %9s %7s %10s %8s %7s %9s %8s%n";
  private static final int WIDTH = 96;

  /** Less of a rate than this is a loss that is told; figures of two runs differ by as much. */
  private static final double EVEN = 0.97;

  private OneTable() {}

  /** Renders all summaries, in their order, and what the columns mean. */
  public static String render(List<Summary> summaries) {
    Map<String, List<Summary>> sections = new LinkedHashMap<>();
    summaries.forEach(
        summary ->
            sections.computeIfAbsent(summary.section(), s -> new ArrayList<>()).add(summary));
    StringBuilder text =
        new StringBuilder(
            row("", "MB/s", "spread", "S3E is", "p99 ms", "GETs", "CPU s/GB", "USD/TB"));
    List<String> losses = new ArrayList<>();
    List<String> missing = new ArrayList<>();
    sections.forEach(
        (section, block) -> {
          text.append(
              wrapped(section + ": " + WorkloadKind.of(block.get(0).workload()).description()));
          block.forEach(summary -> append(text, summary, block, losses));
          if (block.stream().noneMatch(summary -> isS3e(summary) && summary.hasFigures())) {
            missing.add(section);
          }
        });
    String lost = lost(losses, missing, sections.size());
    return text.append('\n').append(foot(summaries, lost)).toString();
  }

  private static void append(
      StringBuilder text, Summary summary, List<Summary> block, List<String> losses) {
    double times = times(summary, block);
    if (times < EVEN) {
      losses.add("%s, %.2f × %s".formatted(summary.section(), times, summary.engine().name()));
    }
    text.append(
        row(
            summary.engine().name(),
            Figure.RATE.text(summary.median(Figure.RATE.value())),
            percent(summary.spread(Figure.RATE.value())),
            Double.isFinite(times) ? Figure.number(times, times < 10 ? 2 : 1) + " ×" : "",
            Figure.P99.text(summary.median(Figure.P99.value())),
            Figure.GETS.text(summary.median(Figure.GETS.value())),
            Figure.CLIENT_CPU.text(summary.median(Figure.CLIENT_CPU.value())),
            Figure.DOLLARS.text(summary.median(Figure.DOLLARS.value()))));
    if (!summary.isOk()) {
      text.append("  ").append(summary.verdict()).append('\n');
    }
  }

  private static boolean isS3e(Summary summary) {
    String name = summary.engine().name();
    return name.equals(S3E) || name.equals(ICEBERG_S3E);
  }

  /** S3E's rate for each MB/s of another; NaN of S3E itself, and where there is no figure. */
  private static double times(Summary summary, List<Summary> block) {
    if (isS3e(summary)) {
      return Double.NaN;
    }
    return block.stream()
        .filter(OneTable::isS3e)
        .mapToDouble(s3e -> s3e.median(Figure.RATE.value()) / summary.median(Figure.RATE.value()))
        .findFirst()
        .orElse(Double.NaN);
  }

  private static String row(Object... cells) {
    return String.format(Locale.ROOT, ROW, cells).stripTrailing() + '\n';
  }

  private static String percent(double share) {
    return Double.isFinite(share) ? Figure.number(share * 100, 0) + " %" : "–";
  }

  private static String wrapped(String line) {
    StringBuilder text = new StringBuilder("\n");
    int width = 0;
    for (String word : line.split(" ", -1)) {
      if (width > 0 && width + 1 + word.length() > WIDTH) {
        text.append("\n  ");
        width = 2;
      } else if (width > 0) {
        text.append(' ');
        width++;
      }
      text.append(word);
      width += word.length();
    }
    return text.append('\n').toString();
  }

  /** What S3E lost: where it has no figure it was not the faster one. */
  private static String lost(List<String> losses, List<String> missing, int sections) {
    List<String> lines = new ArrayList<>();
    if (!missing.isEmpty()) {
      lines.add(
          missing.stream()
              .map(section -> section + ": S3E has no figure")
              .collect(Collectors.joining("; ", "", ".")));
    }
    if (!losses.isEmpty()) {
      lines.add(losses.stream().collect(Collectors.joining("; ", "S3E was slower in: ", ".")));
    } else if (missing.isEmpty()) {
      lines.add("S3E was slower than none of them by more than 3 %.");
    } else if (missing.size() < sections) {
      lines.add("Elsewhere S3E was slower than none of them by more than 3 %.");
    }
    return String.join("\n", lines);
  }

  private static String foot(List<Summary> summaries, String lost) {
    String bytes =
        summaries.stream().allMatch(Summary::isOk)
            ? "Every byte was right in every run."
            : "Every byte was right, but where a line below the engine says otherwise.";
    return String.join(
        "\n",
        bytes,
        lost,
        "Medians of the rounds; spread: largest minus smallest. S3E is: its MB/s for each of"
            + " theirs.",
        "p99: of one call. GETs: of a run. CPU: of the reader's JVM, for each GB used. USD/TB: at"
            + " list",
        "prices, requests, CPU, and tasks that are in reads. –: nobody counted. More: the report.",
        "");
  }
}
