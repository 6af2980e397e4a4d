package io.s3e.bench.report;

import io.s3e.bench.Summary;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One page that holds everything: charts, table, settings, machine. Needs no other file. */
final class HtmlPage {

  private static final String STYLE =
      """
      body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem; }
      table { border-collapse: collapse; font-size: 14px; }
      th, td { padding: .25rem .6rem; text-align: right; border-bottom: 1px solid #ddd; }
      th { border-bottom: 2px solid #888; }
      .word { text-align: left; }
      .bad { color: #b00020; }
      img { max-width: 100%; }
      dl { display: grid; grid-template-columns: max-content auto; gap: .1rem 1rem; }
      dt { color: #666; } dd { margin: 0; }
      """;

  private HtmlPage() {}

  static String render(
      List<Summary> summaries, Map<String, Map<String, Object>> facts, byte @Nullable [] chart) {
    StringBuilder html = new StringBuilder(16_384);
    html.append("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    html.append("<title>S3E beside S3A</title><style>\n").append(STYLE).append("</style></head>\n");
    html.append("<body><h1>S3E beside S3A</h1>\n");
    if (chart != null) {
      html.append("<img alt=\"Charts of the medians\" src=\"data:image/png;base64,")
          .append(Base64.getEncoder().encodeToString(chart))
          .append("\">\n");
    }
    appendTable(html, summaries);
    html.append("<ul>\n");
    Figures.EXPLANATIONS.forEach(
        line -> html.append("<li>").append(escape(line)).append("</li>\n"));
    html.append("</ul>\n");
    facts.forEach((title, entries) -> appendFacts(html, title, entries));
    return html.append("</body></html>\n").toString();
  }

  private static void appendTable(StringBuilder html, List<Summary> summaries) {
    html.append("<table><thead><tr>");
    Figures.HEADS.forEach(head -> html.append("<th>").append(escape(head)).append("</th>"));
    html.append("</tr></thead><tbody>\n");
    for (Summary summary : summaries) {
      html.append("<tr>");
      for (String cell : Figures.row(summary, summaries)) {
        boolean figure = cell.equals("n/a") || cell.matches("[0-9.]+( %)?");
        boolean verdict = cell.equals(summary.verdict());
        boolean bad = verdict && summary.runs().stream().anyMatch(run -> !run.result().isOk());
        html.append(figure ? "<td>" : bad ? "<td class=\"word bad\">" : "<td class=\"word\">")
            .append(escape(cell))
            .append("</td>");
      }
      html.append("</tr>\n");
    }
    html.append("</tbody></table>\n");
  }

  private static void appendFacts(StringBuilder html, String title, Map<String, Object> entries) {
    html.append("<h2>").append(escape(title)).append("</h2>\n<dl>");
    entries.forEach(
        (name, value) ->
            html.append("<dt>")
                .append(escape(name))
                .append("</dt><dd>")
                .append(escape(String.valueOf(value)))
                .append("</dd>\n"));
    html.append("</dl>\n");
  }

  private static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }
}
