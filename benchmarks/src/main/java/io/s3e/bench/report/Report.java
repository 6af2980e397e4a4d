package io.s3e.bench.report;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.s3e.bench.Summary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes {@code results.json}, {@code report.html} and {@code report.png}.
 *
 * @param json every run with machine, versions and settings
 * @param html the page
 * @param png the charts; null when this JVM cannot draw
 * @param chartFailure why it cannot
 */
public record Report(Path json, Path html, @Nullable Path png, @Nullable String chartFailure) {

  /**
   * Writes the three files.
   *
   * @param directory where to; created if need be
   * @param settings what the comparison was asked to do, by name
   */
  public static Report write(Path directory, List<Summary> summaries, Map<String, Object> settings)
      throws IOException {
    Files.createDirectories(directory);
    Map<String, Map<String, Object>> facts = new LinkedHashMap<>();
    facts.put("Settings", settings);
    facts.put("Machine and versions", Environment.describe());

    Path json = directory.resolve("results.json");
    Map<String, Object> results = new LinkedHashMap<>();
    results.put("time", Instant.now().toString());
    results.put("settings", settings);
    results.put("environment", Environment.describe());
    results.put("summaries", summaries.stream().map(s -> entry(s, summaries)).toList());
    new ObjectMapper()
        .enable(SerializationFeature.INDENT_OUTPUT)
        .writeValue(json.toFile(), results);

    Path png = directory.resolve("report.png");
    String chartFailure = drawCharts(summaries, png);
    byte[] chart = chartFailure == null ? Files.readAllBytes(png) : null;
    Path html = directory.resolve("report.html");
    Files.writeString(html, HtmlPage.render(summaries, facts, chart));
    return new Report(json, html, chart == null ? null : png, chartFailure);
  }

  /**
   * A summary without the engine's settings, which may hold secrets; those worth telling are above.
   */
  private static Map<String, Object> entry(Summary summary, List<Summary> all) {
    Map<String, Object> entry = new LinkedHashMap<>();
    List<String> row = Figures.row(summary, all);
    for (int i = 0; i < row.size(); i++) {
      entry.put(Figures.HEADS.get(i), row.get(i));
    }
    entry.put("runs", summary.runs());
    return entry;
  }

  /** Draws, or says why it could not: a JRE without fonts is no reason to lose the figures. */
  private static @Nullable String drawCharts(List<Summary> summaries, Path png) throws IOException {
    try {
      Charts.write(summaries, png);
      return null;
    } catch (LinkageError | RuntimeException noFonts) {
      return "this JVM cannot draw: " + noFonts;
    }
  }
}
