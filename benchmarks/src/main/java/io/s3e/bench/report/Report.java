// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.report;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.s3e.bench.Summary;
import java.io.IOException;
import java.nio.file.FileSystemException;
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
 * @param png the overview; null when this JVM cannot draw
 * @param chartFailure why it cannot
 */
public record Report(Path json, Path html, @Nullable Path png, @Nullable String chartFailure) {

  /**
   * Creates the directory, before hours of measuring are lost for want of it.
   *
   * @throws FileSystemException if it cannot be written to
   */
  public static void checkDirectory(Path directory) throws IOException {
    if (Files.exists(directory) && !Files.isDirectory(directory)) {
      throw new FileSystemException(directory.toString(), null, "--report: is no directory");
    }
    Files.createDirectories(directory);
    if (!Files.isWritable(directory)) {
      throw new FileSystemException(directory.toString(), null, "--report: cannot be written to");
    }
  }

  /**
   * Writes the three files.
   *
   * @param directory where to; created if need be
   * @param settings what the comparison was asked to do, by name
   * @param engines settings of each engine, without secrets, by its name
   */
  public static Report write(
      Path directory,
      List<Summary> summaries,
      Map<String, Object> settings,
      Map<String, Object> engines)
      throws IOException {
    Files.createDirectories(directory);
    Map<String, Object> environment = Environment.describe();
    Path json = directory.resolve("results.json");
    Map<String, Object> results = new LinkedHashMap<>();
    results.put("time", Instant.now().toString());
    results.put("settings", settings);
    results.put("engines", engines);
    results.put("environment", environment);
    results.put("summaries", summaries.stream().map(s -> entry(s, summaries)).toList());
    new ObjectMapper()
        .enable(SerializationFeature.INDENT_OUTPUT)
        .writeValue(json.toFile(), results);

    Map<String, Map<String, Object>> facts = new LinkedHashMap<>();
    facts.put("Settings", settings);
    facts.put("Engines", engines);
    facts.put("Machine and versions", environment);
    Path png = directory.resolve("report.png");
    Map<String, byte[]> charts = new LinkedHashMap<>();
    String chartFailure = draw(summaries, png, charts);
    Path html = directory.resolve("report.html");
    Files.writeString(html, HtmlPage.render(summaries, facts, charts));
    return new Report(json, html, chartFailure == null ? png : null, chartFailure);
  }

  /** Medians, ratios and every run. A figure that nobody measured is left out. */
  private static Map<String, Object> entry(Summary summary, List<Summary> all) {
    Map<String, Object> entry = new LinkedHashMap<>();
    entry.put("workload", summary.workload());
    if (summary.pass() > 0) {
      entry.put("pass", summary.pass());
    }
    entry.put("engine", summary.engine().name());
    entry.put("verdict", summary.verdict());
    Map<String, Object> medians = new LinkedHashMap<>();
    Map<String, Object> spreads = new LinkedHashMap<>();
    for (Figure figure : Figure.values()) {
      putIfMeasured(medians, figure.key(), summary.median(figure.value()));
      putIfMeasured(spreads, figure.key(), summary.spread(figure.value()));
    }
    Map<String, Object> ratios = new LinkedHashMap<>();
    for (Ratio ratio : Ratio.values()) {
      putIfMeasured(ratios, ratio.key(), ratio.of(summary, all));
    }
    entry.put("medians", medians);
    entry.put("spreads", spreads);
    entry.put("ratios", ratios);
    entry.put("runs", summary.runs());
    return entry;
  }

  private static void putIfMeasured(Map<String, Object> figures, String key, double value) {
    if (Double.isFinite(value)) {
      figures.put(key, value);
    }
  }

  /** Draws, or says why it could not: a JRE without fonts is no reason to lose the figures. */
  private static @Nullable String draw(
      List<Summary> summaries, Path png, Map<String, byte[]> charts) throws IOException {
    try {
      Charts.writeOverview(summaries, png);
      charts.putAll(Charts.ofPage(summaries));
      return null;
    } catch (LinkageError | RuntimeException noFonts) {
      return "this JVM cannot draw: " + noFonts;
    }
  }
}
