// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.report;

import io.s3e.bench.Engine;
import io.s3e.bench.Summary;
import io.s3e.bench.workload.WorkloadKind;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/** One page that holds everything: charts, tables, settings, machine. Needs no other file. */
final class HtmlPage {

  private static final String STYLE =
      """
      body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 84rem; padding: 0 1rem; }
      .scroll { overflow-x: auto; }
      table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
      th, td { padding: .2rem .55rem; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap; }
      th { border-bottom: 2px solid #888; }
      th:first-child, td:first-child { text-align: left; }
      .raw { color: #a35a10; } .s3a { color: #55606b; }
      .bad td { color: #b00020; text-align: left; white-space: normal; }
      .note td { white-space: normal; }
      img { max-width: 100%; vertical-align: top; }
      dl { display: grid; grid-template-columns: max-content auto; gap: .1rem 1rem; }
      dt { color: #666; } dd { margin: 0; overflow-wrap: anywhere; }
      """;

  private final StringBuilder html = new StringBuilder(1 << 16);

  private HtmlPage() {}

  /**
   * Renders the page.
   *
   * @param facts settings, machine and versions, by heading
   * @param charts pictures as PNG, by title; those of a section begin with its name and a colon
   */
  static String render(
      List<Summary> summaries, Map<String, Map<String, Object>> facts, Map<String, byte[]> charts) {
    return new HtmlPage().page(summaries, facts, charts);
  }

  private String page(
      List<Summary> summaries, Map<String, Map<String, Object>> facts, Map<String, byte[]> charts) {
    html.append("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    html.append("<title>S3E beside S3A</title><style>\n").append(STYLE).append("</style></head>\n");
    html.append("<body><h1>S3E beside S3A</h1>\n");
    charts.forEach(
        (title, png) -> {
          if (title.indexOf(':') < 0) {
            appendImage(title, png);
          }
        });
    for (String section : summaries.stream().map(Summary::section).distinct().toList()) {
      List<Summary> block = summaries.stream().filter(s -> s.section().equals(section)).toList();
      html.append("<h2>").append(escape(section)).append("</h2>\n<p>");
      String description = WorkloadKind.of(block.get(0).workload()).description();
      html.append(escape(description)).append("</p>\n");
      appendTable(block);
      charts.forEach(
          (title, png) -> {
            if (title.startsWith(section + ":")) {
              appendImage(title, png);
            }
          });
    }
    appendMeanings();
    facts.forEach(this::appendFacts);
    return html.append("</body></html>\n").toString();
  }

  private void appendImage(String title, byte[] png) {
    html.append("<img alt=\"")
        .append(escape(title))
        .append("\" src=\"data:image/png;base64,")
        .append(Base64.getEncoder().encodeToString(png))
        .append("\">\n");
  }

  /** The rate, and what else was measured of at least one of them. */
  private static List<Figure> figures(List<Summary> block) {
    return Arrays.stream(Figure.values())
        .filter(
            figure ->
                figure == Figure.RATE
                    || block.stream().anyMatch(s -> Double.isFinite(s.median(figure.value()))))
        .toList();
  }

  private void appendTable(List<Summary> block) {
    List<Figure> figures = figures(block);
    html.append("<div class=\"scroll\"><table><thead><tr><th>engine</th>");
    for (Figure figure : figures) {
      appendCell("th", figure.head());
      if (figure == Figure.RATE) {
        appendCell("th", "spread");
        for (Ratio ratio : Ratio.values()) {
          appendCell("th", ratio.head());
        }
      }
    }
    html.append("</tr></thead><tbody>\n");
    block.forEach(summary -> appendRow(summary, block, figures));
    html.append("</tbody></table></div>\n");
  }

  private void appendRow(Summary summary, List<Summary> block, List<Figure> figures) {
    Engine engine = summary.engine();
    String kind = engine.isCeiling() ? "raw" : engine.isPeer() ? "s3a" : "s3e";
    html.append("<tr class=\"").append(kind).append("\">");
    appendCell("td", summary.engine().name());
    for (Figure figure : figures) {
      appendCell("td", figure.text(summary.median(figure.value())));
      if (figure == Figure.RATE) {
        double spread = summary.spread(figure.value()) * 100;
        appendCell("td", Figure.number(spread, 0) + (Double.isFinite(spread) ? " %" : ""));
        for (Ratio ratio : Ratio.values()) {
          appendCell("td", Figure.number(ratio.of(summary, block), 2));
        }
      }
    }
    html.append("</tr>\n");
    if (!summary.isOk()) {
      appendLine("bad", engine.name() + ": " + summary.verdict());
    }
    Notes.of(summary, block)
        .forEach(note -> appendLine(kind + " note", engine.name() + ": " + note));
  }

  /** A sentence as a row of the table. */
  private void appendLine(String cssClass, String text) {
    html.append("<tr class=\"").append(cssClass).append("\"><td colspan=\"20\">");
    html.append(escape(text)).append("</td></tr>\n");
  }

  private void appendCell(String element, String text) {
    html.append('<').append(element).append('>').append(escape(text));
    html.append("</").append(element).append('>');
  }

  private void appendMeanings() {
    html.append("<h2>What the columns mean</h2>\n<p>Medians of the rounds.</p>\n<dl>");
    appendFact("spread", "largest minus smallest round of MB/s, as a share of the median.");
    for (Ratio ratio : Ratio.values()) {
      appendFact(ratio.head(), ratio.meaning());
    }
    for (Figure figure : Figure.values()) {
      appendFact(figure.head(), figure.meaning());
    }
    appendFact("–", "not measured, or there is no such engine.");
    html.append("</dl>\n");
  }

  private void appendFacts(String title, Map<String, Object> entries) {
    html.append("<h2>").append(escape(title)).append("</h2>\n<dl>");
    entries.forEach((name, value) -> appendFact(name, String.valueOf(value)));
    html.append("</dl>\n");
  }

  private void appendFact(String name, String value) {
    html.append("<dt>").append(escape(name)).append("</dt><dd>");
    html.append(escape(value)).append("</dd>\n");
  }

  private static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }
}
