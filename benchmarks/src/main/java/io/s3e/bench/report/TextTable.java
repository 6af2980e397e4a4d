package io.s3e.bench.report;

import io.s3e.bench.Summary;
import java.util.ArrayList;
import java.util.List;

/** The table on the terminal: one block of lines for each workload. */
public final class TextTable {

  private static final String GAP = "  ";

  /** Columns of words; the others hold figures and stand to the right. */
  private static final List<String> WORDS = List.of("workload", "engine", "verdict");

  private TextTable() {}

  /** Renders all summaries, in their order, and what the columns mean. */
  public static String render(List<Summary> summaries) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(Figures.HEADS);
    summaries.forEach(summary -> rows.add(Figures.row(summary, summaries)));
    int[] widths = new int[Figures.HEADS.size()];
    for (List<String> row : rows) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], row.get(i).length());
      }
    }
    StringBuilder text = new StringBuilder();
    String workload = rows.get(0).get(0);
    for (List<String> row : rows) {
      if (!row.get(0).equals(workload)) {
        text.append('\n');
        workload = row.get(0);
      }
      appendRow(text, row, widths);
    }
    text.append('\n');
    Figures.EXPLANATIONS.forEach(line -> text.append(line).append('\n'));
    return text.toString();
  }

  private static void appendRow(StringBuilder text, List<String> row, int[] widths) {
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < widths.length; i++) {
      String pad = " ".repeat(widths[i] - row.get(i).length());
      boolean words = WORDS.contains(Figures.HEADS.get(i));
      line.append(words ? row.get(i) + pad : pad + row.get(i)).append(GAP);
    }
    text.append(line.toString().stripTrailing()).append('\n');
  }
}
