// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.reliability;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Outcomes and figures as JSON in {@code target/reliability}, and as tables. */
final class Report {
  private static final Path DIRECTORY = Path.of("target", "reliability");
  private static final ObjectMapper JSON =
      new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

  private Report() {}

  static void writeOutcomes(List<Outcome> outcomes) throws IOException {
    write("matrix", outcomes);
  }

  static void writeFigures(Group group, List<Figures> figures) throws IOException {
    write(group.key(), figures);
  }

  private static void write(String name, Object value) throws IOException {
    Files.createDirectories(DIRECTORY);
    Path file = DIRECTORY.resolve(name + ".json");
    JSON.writeValue(file.toFile(), value);
    System.out.println(file.toAbsolutePath());
  }

  /**
   * The tables of what lies in a directory, by the names of their places in the page. Figures of
   * another time, all groups in one file, stand in brackets.
   */
  static Map<String, String> tables(Path directory) throws IOException {
    Map<String, String> tables = new LinkedHashMap<>();
    Path matrix = directory.resolve("matrix.json");
    if (Files.exists(matrix)) {
      tables.put("matrix", table(JSON.readValue(matrix.toFile(), new TypeReference<>() {})));
    }
    List<Figures> before = figures(directory.resolve("before.json"));
    for (Group group : Group.values()) {
      List<Figures> now = figures(directory.resolve(group.key() + ".json"));
      if (!now.isEmpty()) {
        tables.put(group.key(), figureTable(now, before));
      }
    }
    return tables;
  }

  private static List<Figures> figures(Path file) throws IOException {
    return Files.exists(file) ? JSON.readValue(file.toFile(), new TypeReference<>() {}) : List.of();
  }

  /** A line for each fault, a column for each stream: the verdicts of its reads. */
  static String table(List<Outcome> outcomes) {
    List<Subject> subjects =
        Arrays.stream(Subject.values())
            .filter(subject -> outcomes.stream().anyMatch(one -> one.subject() == subject))
            .toList();
    StringBuilder table = new StringBuilder();
    row(table, Stream.concat(Stream.of("fault"), subjects.stream().map(Subject::name)).toList());
    row(table, Stream.concat(Stream.of("---"), subjects.stream().map(one -> "---")).toList());
    outcomes.stream()
        .map(Outcome::fault)
        .distinct()
        .forEach(
            fault -> {
              List<String> cells = new ArrayList<>(List.of(fault));
              for (Subject subject : subjects) {
                cells.add(
                    cell(
                        outcomes.stream()
                            .filter(one -> one.fault().equals(fault) && one.subject() == subject)
                            .toList()));
              }
              row(table, cells);
            });
    return table.toString();
  }

  /** For example {@code right 0.4 s (31); read(array) hangs}. */
  private static String cell(List<Outcome> outcomes) {
    Map<Verdict, List<Outcome>> byVerdict = new EnumMap<>(Verdict.class);
    outcomes.forEach(
        one -> byVerdict.computeIfAbsent(one.verdict(), key -> new ArrayList<>()).add(one));
    List<String> parts = new ArrayList<>();
    byVerdict.forEach(
        (verdict, ends) -> {
          String styles =
              ends.size() == outcomes.size()
                  ? ""
                  : ends.stream()
                          .map(one -> one.style().toString())
                          .collect(Collectors.joining(", "))
                      + ": ";
          parts.add(
              switch (verdict) {
                case RIGHT -> styles + "right " + worst(ends);
                case CLEAR_ERROR -> styles + "error " + worst(ends);
                case WRONG_BYTES -> styles + "**wrong bytes**";
                case HANG -> styles + "**no end** " + worst(ends);
                case UNSUPPORTED -> styles + "–";
              });
        });
    return String.join("; ", parts);
  }

  private static String worst(List<Outcome> outcomes) {
    double seconds = outcomes.stream().mapToDouble(Outcome::seconds).max().orElse(0);
    long gets = outcomes.stream().mapToLong(Outcome::gets).sum();
    return (seconds >= 10 ? String.valueOf(Math.round(seconds)) : Math.round(seconds * 10) / 10.0)
        + " s ("
        + gets
        + ")";
  }

  /** A line for each scenario and stream; what stood before follows in brackets. */
  static String figureTable(List<Figures> figures, List<Figures> before) {
    Set<String> columns = new LinkedHashSet<>();
    figures.forEach(line -> columns.addAll(line.values().keySet()));
    StringBuilder table = new StringBuilder();
    row(table, Stream.concat(Stream.of("scenario", "stream"), columns.stream()).toList());
    row(table, Stream.concat(Stream.of("---", "---"), columns.stream().map(one -> "---")).toList());
    for (Figures line : figures) {
      List<String> cells = new ArrayList<>(List.of(line.scenario(), line.subject().name()));
      for (String column : columns) {
        cells.add(cell(line, column, before));
      }
      row(table, cells);
    }
    return table.toString();
  }

  private static String cell(Figures line, String column, List<Figures> before) {
    String now = String.valueOf(line.values().getOrDefault(column, ""));
    return before.stream()
        .filter(old -> isSameLine(old, line))
        .map(old -> String.valueOf(old.values().getOrDefault(column, "")))
        .filter(old -> !old.equals(now) && !old.isEmpty())
        .findFirst()
        .map(old -> now + " (" + old + ")")
        .orElse(now);
  }

  private static boolean isSameLine(Figures one, Figures other) {
    return one.group().equals(other.group())
        && one.scenario().equals(other.scenario())
        && one.subject() == other.subject();
  }

  private static void row(StringBuilder table, List<String> cells) {
    table.append("| ").append(String.join(" | ", cells)).append(" |\n");
  }
}
