// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.report;

import io.s3e.bench.Summary;
import io.s3e.bench.workload.WorkloadKind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The table on the terminal, at most 132 columns wide: one block of lines for each workload, or for
 * each of its passes, with the figures that say most. The others are in the files of the report.
 */
public final class TextTable {

  private static final String GAP = "  ";
  private static final int WIDTH = 132;

  private static final List<Figure> LATENCY_AND_WORK =
      List.of(
          Figure.P50,
          Figure.P99,
          Figure.GETS,
          Figure.GETS_PER_GIGABYTE,
          Figure.HEADS,
          Figure.DOLLARS,
          Figure.FETCHED,
          Figure.CLIENT_CPU,
          Figure.ALLOCATED,
          Figure.PEAK);

  /** In the place of {@link #LATENCY_AND_WORK} where it matters what was fetched again. */
  private static final List<Figure> OF_PASSES =
      List.of(
          Figure.SECONDS,
          Figure.P50,
          Figure.P99,
          Figure.GETS,
          Figure.GETS_PER_GIGABYTE,
          Figure.HEADS,
          Figure.DOLLARS,
          Figure.FETCHED_MEGABYTES,
          Figure.CLIENT_CPU,
          Figure.PEAK);

  /** The same for several JVMs over one object. */
  private static final List<Figure> OF_PROCESSES =
      List.of(
          Figure.SECONDS,
          Figure.P50,
          Figure.P99,
          Figure.GETS,
          Figure.GETS_PER_GIGABYTE,
          Figure.HEADS,
          Figure.DOLLARS,
          Figure.FETCHED_MEGABYTES,
          Figure.FETCHED_PER_OBJECT,
          Figure.CLIENT_CPU,
          Figure.PEAK);

  private static final List<Figure> OF_FIRST_BYTE =
      List.of(
          Figure.FIRST_BYTE,
          Figure.CPU_SECONDS,
          Figure.CLIENT_CPU,
          Figure.GETS,
          Figure.GETS_PER_GIGABYTE,
          Figure.HEADS,
          Figure.DOLLARS,
          Figure.FETCHED,
          Figure.PEAK);

  /** Where it is time in reads that matters. */
  private static final List<Figure> OF_COLUMNS =
      List.of(
          Figure.SECONDS,
          Figure.BLOCKED,
          Figure.BLOCKED_PER_GROUP,
          Figure.P50,
          Figure.GETS,
          Figure.HEADS,
          Figure.DOLLARS,
          Figure.FETCHED,
          Figure.CLIENT_CPU,
          Figure.PEAK);

  /** The same with a consumer of a certain rate. */
  private static final List<Figure> OF_PACED_COLUMNS =
      List.of(
          Figure.AFTER_FIRST_GROUP,
          Figure.SECONDS,
          Figure.BLOCKED,
          Figure.BLOCKED_PER_GROUP,
          Figure.GETS,
          Figure.HEADS,
          Figure.DOLLARS,
          Figure.FETCHED,
          Figure.CLIENT_CPU,
          Figure.PEAK);

  private static final List<Figure> OF_FILE_SYSTEMS =
      List.of(
          Figure.FIRST_SCAN,
          Figure.MEDIAN_SCAN,
          Figure.LEAST_SCAN,
          Figure.TOGETHER,
          Figure.GETS_PER_GIGABYTE,
          Figure.HEADS,
          Figure.DOLLARS,
          Figure.CLIENT_CPU,
          Figure.PEAK);

  private static final List<Figure> OF_NEIGHBOURS =
      List.of(
          Figure.SCAN_ALONE,
          Figure.SCAN_TO_ALONE,
          Figure.P50_ALONE,
          Figure.P50_TO_ALONE,
          Figure.P99_ALONE,
          Figure.P99_TO_ALONE,
          Figure.GETS_PER_GIGABYTE,
          Figure.HEADS,
          Figure.DOLLARS,
          Figure.PEAK);

  private final List<Ratio> ratios;

  private TextTable(List<Summary> summaries) {
    ratios = Arrays.stream(Ratio.values()).filter(ratio -> isShown(ratio, summaries)).toList();
  }

  /** Ceilings that nobody asked for need no column. */
  private static boolean isShown(Ratio ratio, List<Summary> summaries) {
    return switch (ratio) {
      case CLASSIC, S3A -> true;
      case RAW -> summaries.stream().anyMatch(s -> s.engine().isRaw());
      case FILE -> summaries.stream().anyMatch(s -> s.engine().isFile());
    };
  }

  /** Renders all summaries, in their order, and what the columns mean. */
  public static String render(List<Summary> summaries) {
    return new TextTable(summaries).text(summaries);
  }

  private String text(List<Summary> summaries) {
    Map<String, List<Summary>> bySection = new LinkedHashMap<>();
    for (Summary summary : summaries) {
      bySection.computeIfAbsent(summary.section(), label -> new ArrayList<>()).add(summary);
    }
    Map<String, List<List<String>>> blocks = new LinkedHashMap<>();
    bySection.forEach((section, block) -> blocks.put(section, rows(section, block)));
    int[] widths = widths(blocks.values().stream().flatMap(List::stream).toList());

    StringBuilder text = new StringBuilder();
    blocks.forEach(
        (section, rows) -> {
          appendRow(text, rows.get(0), widths);
          List<Summary> block = bySection.getOrDefault(section, List.of());
          for (int i = 0; i < block.size(); i++) {
            appendRow(text, rows.get(i + 1), widths);
            appendNotes(text, block.get(i), block);
          }
          text.append('\n');
        });
    text.append(foot(summaries));
    return text.toString();
  }

  private static void appendNotes(StringBuilder text, Summary summary, List<Summary> block) {
    if (!summary.isOk()) {
      text.append(GAP).append(summary.verdict()).append('\n');
    }
    Notes.of(summary, block).forEach(note -> appendWrapped(text, note));
  }

  /** At commas, where it is longer than a terminal is wide. */
  private static void appendWrapped(StringBuilder text, String note) {
    int width = 0;
    for (String part : note.split("(?<=, )", -1)) {
      if (width == 0 || width + part.stripTrailing().length() > WIDTH) {
        text.append(width == 0 ? GAP : '\n' + GAP + GAP);
        width = 2 * GAP.length();
      }
      text.append(part);
      width += part.length();
    }
    text.append('\n');
  }

  private static List<Figure> figures(Summary summary) {
    WorkloadKind kind = WorkloadKind.of(summary.workload());
    if (kind.processes() > 1) {
      return OF_PROCESSES;
    }
    if (summary.pass() > 0) {
      return OF_PASSES;
    }
    return switch (kind.data()) {
      case BUCKETS -> OF_FILE_SYSTEMS;
      case NEIGHBOURS -> OF_NEIGHBOURS;
      case TEXT, STREAMS, SMALL -> kind.measuresFirstByte() ? OF_FIRST_BYTE : LATENCY_AND_WORK;
      case PARQUET, COLUMNS, WIDE, FILES, FILTERED, ORC ->
          kind.hasPace() ? OF_PACED_COLUMNS : OF_COLUMNS;
    };
  }

  private List<List<String>> rows(String section, List<Summary> block) {
    List<List<String>> rows = new ArrayList<>();
    List<String> heads = new ArrayList<>(List.of(section, Figure.RATE.head(), "spread"));
    ratios.forEach(ratio -> heads.add(ratio.head()));
    figures(block.get(0)).forEach(figure -> heads.add(figure.head()));
    rows.add(heads);
    block.forEach(summary -> rows.add(row(summary, block)));
    return rows;
  }

  private List<String> row(Summary summary, List<Summary> block) {
    List<String> row = new ArrayList<>();
    row.add(summary.engine().name());
    row.add(Figure.RATE.text(summary.median(Figure.RATE.value())));
    row.add(percent(summary.spread(Figure.RATE.value())));
    ratios.forEach(ratio -> row.add(Figure.number(ratio.of(summary, block), 2)));
    figures(summary).forEach(figure -> row.add(figure.text(summary.median(figure.value()))));
    return row;
  }

  private static String percent(double share) {
    return Double.isFinite(share) ? Figure.number(share * 100, 0) + " %" : "–";
  }

  private static int[] widths(List<List<String>> rows) {
    int[] widths = new int[rows.stream().mapToInt(List::size).max().orElse(0)];
    for (List<String> row : rows) {
      for (int i = 0; i < row.size(); i++) {
        widths[i] = Math.max(widths[i], row.get(i).length());
      }
    }
    return widths;
  }

  /** The name stands to the left, figures to the right. */
  private static void appendRow(StringBuilder text, List<String> row, int[] widths) {
    for (int i = 0; i < row.size(); i++) {
      String pad = " ".repeat(widths[i] - row.get(i).length());
      text.append(i == 0 ? row.get(i) + pad : GAP + pad + row.get(i));
    }
    text.append('\n');
  }

  private String foot(List<Summary> summaries) {
    StringBuilder text = new StringBuilder();
    long wrong = summaries.stream().filter(summary -> !summary.isOk()).count();
    text.append(
        wrong == 0
            ? "Every byte was right in every run.\n"
            : "Every byte was right, but where a line below the engine says otherwise.\n");
    text.append("Medians of the rounds; spread: largest minus smallest, as a share of it.\n");
    text.append(line(Figure.RATE.head(), Figure.RATE.meaning()));
    ratios.forEach(ratio -> text.append(line(ratio.head(), ratio.meaning())));
    summaries.stream()
        .flatMap(summary -> figures(summary).stream())
        .distinct()
        .forEach(figure -> text.append(line(figure.head(), figure.meaning())));
    return text.append("–: not measured, or there is no such engine.\n").toString();
  }

  private static String line(String head, String meaning) {
    return head + ": " + meaning + '\n';
  }
}
