package io.s3e.bench.report;

import io.s3e.bench.Summary;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The table on the terminal, at most 120 columns wide: one block of lines for each workload, with
 * the figures that say most. The others are in the files of the report.
 */
public final class TextTable {

  private static final String GAP = "  ";

  private static final List<Figure> LATENCY_AND_WORK =
      List.of(
          Figure.P50,
          Figure.P99,
          Figure.GETS,
          Figure.WAITS,
          Figure.FETCHED,
          Figure.CLIENT_CPU,
          Figure.ALLOCATED,
          Figure.PEAK);

  private TextTable() {}

  /** Renders all summaries, in their order, and what the columns mean. */
  public static String render(List<Summary> summaries) {
    Map<String, List<Summary>> byWorkload = new LinkedHashMap<>();
    for (Summary summary : summaries) {
      byWorkload.computeIfAbsent(summary.workload(), label -> new ArrayList<>()).add(summary);
    }
    Map<String, List<List<String>>> blocks = new LinkedHashMap<>();
    byWorkload.forEach((workload, block) -> blocks.put(workload, rows(workload, block)));
    int[] widths = widths(blocks.values().stream().flatMap(List::stream).toList());

    StringBuilder text = new StringBuilder();
    blocks.forEach(
        (workload, rows) -> {
          appendRow(text, rows.get(0), widths);
          List<Summary> block = byWorkload.getOrDefault(workload, List.of());
          for (int i = 0; i < block.size(); i++) {
            appendRow(text, rows.get(i + 1), widths);
            if (!block.get(i).isOk()) {
              text.append(GAP).append(block.get(i).verdict()).append('\n');
            }
          }
          text.append('\n');
        });
    text.append(foot(summaries));
    return text.toString();
  }

  private static List<List<String>> rows(String workload, List<Summary> block) {
    List<List<String>> rows = new ArrayList<>();
    List<String> heads = new ArrayList<>(List.of(workload, Figure.RATE.head(), "spread"));
    for (Ratio ratio : Ratio.values()) {
      heads.add(ratio.head());
    }
    LATENCY_AND_WORK.forEach(figure -> heads.add(figure.head()));
    rows.add(heads);
    block.forEach(summary -> rows.add(row(summary, block)));
    return rows;
  }

  private static List<String> row(Summary summary, List<Summary> block) {
    List<String> row = new ArrayList<>();
    row.add(summary.engine().name());
    row.add(Figure.RATE.text(summary.median(Figure.RATE.value())));
    row.add(percent(summary.spread(Figure.RATE.value())));
    for (Ratio ratio : Ratio.values()) {
      row.add(Figure.number(ratio.of(summary, block), 2));
    }
    LATENCY_AND_WORK.forEach(figure -> row.add(figure.text(summary.median(figure.value()))));
    return row;
  }

  private static String percent(double share) {
    return Double.isFinite(share) ? Figure.number(share * 100, 0) + " %" : "–";
  }

  private static int[] widths(List<List<String>> rows) {
    int[] widths = new int[rows.isEmpty() ? 0 : rows.get(0).size()];
    for (List<String> row : rows) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], row.get(i).length());
      }
    }
    return widths;
  }

  /** The name stands to the left, figures to the right. */
  private static void appendRow(StringBuilder text, List<String> row, int[] widths) {
    for (int i = 0; i < widths.length; i++) {
      String pad = " ".repeat(widths[i] - row.get(i).length());
      text.append(i == 0 ? row.get(i) + pad : GAP + pad + row.get(i));
    }
    text.append('\n');
  }

  private static String foot(List<Summary> summaries) {
    StringBuilder text = new StringBuilder();
    long wrong = summaries.stream().filter(summary -> !summary.isOk()).count();
    text.append(
        wrong == 0
            ? "Every byte was right in every run.\n"
            : "Every byte was right, but where a line below the engine says otherwise.\n");
    text.append("Medians of the rounds; spread: largest minus smallest, as a share of it.\n");
    text.append(line(Figure.RATE.head(), Figure.RATE.meaning()));
    for (Ratio ratio : Ratio.values()) {
      text.append(line(ratio.head(), ratio.meaning()));
    }
    LATENCY_AND_WORK.forEach(figure -> text.append(line(figure.head(), figure.meaning())));
    return text.append("–: not measured, or there is no such engine.\n").toString();
  }

  private static String line(String head, String meaning) {
    return head + ": " + meaning + '\n';
  }
}
