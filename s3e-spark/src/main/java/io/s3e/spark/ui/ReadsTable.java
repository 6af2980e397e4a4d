// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.ui;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import scala.xml.Utility;

/**
 * A table in Spark's own style: Spark's script sorts it by a click on a heading, by the key of the
 * cells; without a script it stands in the order of its rows.
 */
final class ReadsTable<T> {
  /**
   * A cell.
   *
   * @param html escaped
   * @param sortKey not escaped; in a column of numbers a plain decimal number
   */
  record Cell(String html, String sortKey) {
    static Cell text(String text) {
      return new Cell(Utility.escape(text), text);
    }

    /** Cut where it has no room, and whole under the mouse. */
    static Cell name(String name) {
      String escaped = Utility.escape(name);
      return new Cell(
          "<div class=\"s3e-name\" title=\"" + escaped + "\">" + escaped + "</div>", name);
    }

    /** Without an exponent, which Spark's script would take for digits. */
    static Cell number(String text, double sortKey) {
      return new Cell(Utility.escape(text), String.format(Locale.ROOT, "%.6f", sortKey));
    }
  }

  private enum Kind {
    TEXT("", ""),
    NUMBER(" class=\"sorttable_numeric\"", " class=\"s3e-number\"");

    final String heading;
    final String cell;

    Kind(String heading, String cell) {
      this.heading = heading;
      this.cell = cell;
    }
  }

  private record Column<T>(Kind kind, String title, String meaning, Function<T, Cell> cell) {}

  private final String id;
  private final List<Column<T>> columns = new ArrayList<>();

  /**
   * @param id of the element
   */
  ReadsTable(String id) {
    this.id = id;
  }

  /**
   * @param meaning shown where the pointer rests on the heading
   */
  ReadsTable<T> text(String title, String meaning, Function<T, Cell> cell) {
    columns.add(new Column<>(Kind.TEXT, title, meaning, cell));
    return this;
  }

  /** As {@link #text}, to the right and sorted by value. */
  ReadsTable<T> number(String title, String meaning, Function<T, Cell> cell) {
    columns.add(new Column<>(Kind.NUMBER, title, meaning, cell));
    return this;
  }

  String html(List<T> rows) {
    StringBuilder html =
        new StringBuilder("<table id=\"")
            .append(id)
            .append("\" class=\"table table-bordered table-sm table-striped sortable s3e-table\">")
            .append("<thead><tr>");
    for (Column<T> column : columns) {
      html.append("<th").append(column.kind().heading);
      html.append(" title=\"").append(Utility.escape(column.meaning())).append("\">");
      html.append(Utility.escape(column.title())).append("</th>");
    }
    html.append("</tr></thead><tbody>");
    for (T row : rows) {
      html.append("<tr>");
      for (Column<T> column : columns) {
        append(html, column.kind(), column.cell().apply(row));
      }
      html.append("</tr>");
    }
    return html.append("</tbody></table>").toString();
  }

  private static void append(StringBuilder html, Kind kind, Cell cell) {
    html.append("<td").append(kind.cell);
    html.append(" sorttable_customkey=\"").append(Utility.escape(cell.sortKey())).append("\">");
    html.append(cell.html()).append("</td>");
  }
}
