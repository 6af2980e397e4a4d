// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.spark;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.s3e.engines.Stream;
import io.s3e.engines.spark.Measured.State;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/**
 * The tables of a measurement: medians of the rounds, and S3E beside that stream of S3A's which has
 * the lower median of the figure, with the lowest and the highest ratio of a round.
 *
 * @param title what was measured
 * @param settings how, a line each
 * @param streams in the order of the columns
 * @param states the tables
 * @param groups steps that are summed up, by the name of the sum
 */
record MeasureReport(
    String title,
    List<String> settings,
    List<Stream> streams,
    List<State> states,
    Map<String, List<String>> groups) {
  private static final Set<Stream> PEERS = EnumSet.of(Stream.CLASSIC, Stream.ANALYTICS);

  String markdown(Measured measured) {
    StringBuilder text = new StringBuilder("# " + title + "\n\n");
    settings.forEach(line -> text.append("- ").append(line).append('\n'));
    text.append("- Each cell: ")
        .append(streams.stream().map(Stream::toString).collect(Collectors.joining(" / ")))
        .append("; ratio: S3E beside the better stream of S3A's (lowest to highest of a round)\n")
        .append("- blocked: time of tasks in calls that open or read a stream")
        .append(", the same clock around all streams\n");
    for (State state : states) {
      text.append("\n## ").append(state).append("\n\n");
      text.append("| step | result | wall s | ratio | task s | blocked s | ratio | CPU s | ratio")
          .append(" | GETs | MB | HEADs | given MB | Input MB | server's CPU s |\n");
      text.append("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
      for (String step : measured.steps()) {
        text.append(row(measured, step, List.of(step), state));
      }
      groups.forEach((name, steps) -> text.append(row(measured, name, steps, state)));
    }
    return text.toString();
  }

  private String row(Measured measured, String name, List<String> steps, State state) {
    Map<Stream, List<Figures>> rounds = new LinkedHashMap<>();
    streams.forEach(stream -> rounds.put(stream, measured.rounds(steps, state, stream)));
    List<String> cells = new ArrayList<>();
    cells.add(name);
    cells.add(steps.stream().allMatch(measured::isEqual) ? "equal" : "DIFFERENT");
    cells.add(cell(rounds, Figures::wall, "%.2f"));
    cells.add(ratio(rounds, Figures::wall));
    cells.add(cell(rounds, Figures::task, "%.2f"));
    cells.add(clocked(rounds, Figures::blocked, "%.2f"));
    cells.add(ratio(rounds, Figures::blocked));
    cells.add(cell(rounds, Figures::cpu, "%.2f"));
    cells.add(ratio(rounds, Figures::cpu));
    cells.add(cell(rounds, Figures::gets, "%.0f"));
    cells.add(cell(rounds, Figures::megabytes, "%.1f"));
    cells.add(cell(rounds, Figures::heads, "%.0f"));
    cells.add(clocked(rounds, Figures::given, "%.1f"));
    cells.add(cell(rounds, Figures::input, "%.1f"));
    cells.add(cell(rounds, Figures::serverCpu, "%.2f"));
    return "| " + String.join(" | ", cells) + " |\n";
  }

  private static String cell(
      Map<Stream, List<Figures>> rounds, ToDoubleFunction<Figures> figure, String format) {
    return rounds.values().stream()
        .map(each -> String.format(Locale.ROOT, format, median(each, figure)))
        .collect(Collectors.joining(" / "));
  }

  /** A figure of the clock around streams, which the plugin's are read without. */
  private static String clocked(
      Map<Stream, List<Figures>> rounds, ToDoubleFunction<Figures> figure, String format) {
    return rounds.entrySet().stream()
        .map(
            entry ->
                entry.getKey() == Stream.PLUGIN
                    ? "–"
                    : String.format(Locale.ROOT, format, median(entry.getValue(), figure)))
        .collect(Collectors.joining(" / "));
  }

  private static double median(List<Figures> rounds, ToDoubleFunction<Figures> figure) {
    return figure.applyAsDouble(Figures.median(rounds));
  }

  /** Empty where S3E or all of S3A's streams were left out. */
  private static String ratio(Map<Stream, List<Figures>> rounds, ToDoubleFunction<Figures> figure) {
    List<Figures> s3e = rounds.getOrDefault(Stream.S3E, List.of());
    Optional<List<Figures>> better =
        rounds.entrySet().stream()
            .filter(entry -> PEERS.contains(entry.getKey()))
            .map(Map.Entry::getValue)
            .min(Comparator.comparingDouble(each -> median(each, figure)));
    if (s3e.isEmpty() || better.isEmpty()) {
      return "";
    }
    return Figures.ratio(values(s3e, figure), values(better.orElseThrow(), figure));
  }

  private static List<Double> values(List<Figures> rounds, ToDoubleFunction<Figures> figure) {
    return rounds.stream().mapToDouble(figure).boxed().toList();
  }

  /** Writes {@code name.md} and {@code name.json} and returns the former. */
  Path write(Measured measured, Path directory, String name) throws IOException {
    Files.createDirectories(directory);
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("title", title);
    all.put("settings", settings);
    List<Map<String, Object>> rounds = new ArrayList<>();
    for (State state : states) {
      for (String step : measured.steps()) {
        for (Stream stream : streams) {
          rounds.add(
              Map.of(
                  "step", step,
                  "state", state,
                  "stream", stream,
                  "equal", measured.isEqual(step),
                  "rounds", measured.rounds(step, state, stream)));
        }
      }
    }
    all.put("figures", rounds);
    new ObjectMapper()
        .enable(SerializationFeature.INDENT_OUTPUT)
        .writeValue(directory.resolve(name + ".json").toFile(), all);
    Path markdown = directory.resolve(name + ".md");
    Files.writeString(markdown, markdown(measured));
    return markdown;
  }
}
