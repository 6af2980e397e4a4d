// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.doctor;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What the doctor has found, in sections, as text and as JSON. One thread. */
final class Report {
  /** The weight of a row. */
  enum Level {
    OK,
    /** Worth knowing; nothing is to be done. */
    NOTE,
    /** Has a remedy, and S3E is not ready before. */
    TODO
  }

  /** Parts of the report, in the order in which they are shown. */
  enum Section {
    CLASS_PATH("Class path"),
    CONFIGURATION("Configuration"),
    MEMORY("Memory"),
    BUCKETS("Buckets"),
    READING("Reading");

    private final String title;

    Section(String title) {
      this.title = title;
    }

    private String key() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * @param remedy what is to be done; null unless the level is {@link Level#TODO}
   */
  private record Row(String name, String value, Level level, @Nullable String remedy) {}

  private static final int WIDEST_NAME = 38;

  /** What is found for one section. */
  static final class Part {
    private final List<Row> rows = new ArrayList<>();

    void ok(String name, String value) {
      rows.add(new Row(name, value, Level.OK, null));
    }

    void note(String name, String value) {
      rows.add(new Row(name, value, Level.NOTE, null));
    }

    void todo(String name, String value, String remedy) {
      rows.add(new Row(name, value, Level.TODO, remedy));
    }
  }

  private final Map<Section, Part> parts = new EnumMap<>(Section.class);
  private final String version;

  Report(String version) {
    this.version = version;
    for (Section section : Section.values()) {
      parts.put(section, new Part());
    }
  }

  Part in(Section section) {
    return Objects.requireNonNull(parts.get(section));
  }

  /** Whether nothing is to be done. */
  boolean isReady() {
    return remedies().isEmpty();
  }

  private List<String> remedies() {
    return parts.values().stream()
        .flatMap(part -> part.rows.stream())
        .flatMap(row -> Stream.ofNullable(row.remedy()))
        .distinct()
        .toList();
  }

  /** For a terminal. */
  String text() {
    StringBuilder text = new StringBuilder("S3E " + version + " doctor\n");
    for (Section section : Section.values()) {
      List<Row> rows = in(section).rows;
      if (!rows.isEmpty()) {
        text.append('\n').append(section.title).append('\n');
        int width =
            Math.min(
                WIDEST_NAME, rows.stream().mapToInt(row -> row.name().length()).max().orElse(0));
        for (Row row : rows) {
          text.append(
              String.format(
                  Locale.ROOT,
                  "  %s %-" + width + "s  %s%n",
                  row.level() == Level.TODO ? "!" : " ",
                  row.name(),
                  row.value()));
        }
      }
    }
    List<String> remedies = remedies();
    text.append('\n').append(remedies.isEmpty() ? "Ready.\n" : "To do:\n");
    for (int i = 0; i < remedies.size(); i++) {
      text.append("  ").append(i + 1).append(". ").append(remedies.get(i)).append('\n');
    }
    return text.toString();
  }

  /** One document; each section is a list of rows. */
  String json() {
    String all =
        parts.entrySet().stream()
            .map(each -> string(each.getKey().key()) + ": " + rowsJson(each.getValue().rows))
            .collect(Collectors.joining(",\n  "));
    return "{\n  "
        + string("s3e")
        + ": "
        + string(version)
        + ",\n  \"ready\": "
        + isReady()
        + ",\n  "
        + all
        + "\n}\n";
  }

  private static String rowsJson(List<Row> rows) {
    return rows.stream().map(Report::json).collect(Collectors.joining(",\n    ", "[", "]"));
  }

  private static String json(Row row) {
    String remedy = row.remedy();
    return "{\"name\": "
        + string(row.name())
        + ", \"value\": "
        + string(row.value())
        + ", \"level\": "
        + string(row.level().name().toLowerCase(Locale.ROOT))
        + (remedy == null ? "" : ", \"remedy\": " + string(remedy))
        + "}";
  }

  /** RFC 8259. The bundle's class path need not have a library for it. */
  private static String string(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char next = text.charAt(i);
      if (next == '"' || next == '\\') {
        quoted.append('\\').append(next);
      } else if (next < ' ') {
        quoted.append(String.format(Locale.ROOT, "\\u%04x", (int) next));
      } else {
        quoted.append(next);
      }
    }
    return quoted.append('"').toString();
  }
}
