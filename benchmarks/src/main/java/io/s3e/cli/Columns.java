// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import java.util.ArrayList;
import java.util.List;

/** A table for reading: names stand to the left of their column, figures to the right. */
final class Columns {
  private static final String GAP = "  ";

  private final List<Boolean> figures = new ArrayList<>();
  private final List<List<String>> rows = new ArrayList<>(List.of(new ArrayList<>()));

  /** Adds a column of names. */
  Columns name(String head) {
    return column(head, false);
  }

  /** Adds a column of figures. */
  Columns figure(String head) {
    return column(head, true);
  }

  private Columns column(String head, boolean figure) {
    figures.add(figure);
    rows.get(0).add(head);
    return this;
  }

  /** Adds a row with a cell for each column. */
  void row(Object... cells) {
    List<String> row = new ArrayList<>();
    for (Object cell : cells) {
      row.add(String.valueOf(cell));
    }
    rows.add(row);
  }

  /** The lines, without an end of line after the last. */
  String text() {
    int[] widths = new int[figures.size()];
    for (List<String> row : rows) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], row.get(i).length());
      }
    }
    List<String> lines = new ArrayList<>();
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < widths.length; i++) {
        String pad = " ".repeat(widths[i] - row.get(i).length());
        line.append(i == 0 ? "" : GAP).append(figures.get(i) ? pad + row.get(i) : row.get(i) + pad);
      }
      lines.add(line.toString().stripTrailing());
    }
    return String.join(System.lineSeparator(), lines);
  }
}
