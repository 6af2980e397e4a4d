// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The table of all rows of this run of the tests, each figure as S3A / S3E: printed as a row comes,
 * and written to {@code target/engines} as {@code rows.md} and {@code rows.json}.
 */
final class Report {
  private static final List<String> HEAD =
      List.of(
          "engine",
          "job",
          "result",
          "GETs",
          "MB from S3",
          "HEADs",
          "bytes given to readers",
          "engine's input metric",
          "exit s",
          "wall s",
          "sizes of S3E's GETs, KiB: number");

  private static final List<Row> ROWS = new ArrayList<>();

  private Report() {}

  static synchronized void add(Row row) throws IOException {
    ROWS.add(row);
    System.out.print(line(cells(row)));
    Path directory = Files.createDirectories(Harness.OUTPUT);
    StringBuilder table =
        new StringBuilder(line(HEAD)).append(line(Collections.nCopies(HEAD.size(), "---")));
    ROWS.forEach(each -> table.append(line(cells(each))));
    Files.writeString(directory.resolve("rows.md"), table);
    new ObjectMapper()
        .enable(SerializationFeature.INDENT_OUTPUT)
        .writeValue(
            directory.resolve("rows.json").toFile(), ROWS.stream().map(Report::fields).toList());
  }

  private static List<String> cells(Row row) {
    Outcome control = row.control();
    Outcome s3e = row.s3e();
    return List.of(
        row.engine(),
        row.job(),
        control.digest().equals(s3e.digest()) ? "equal" : "DIFFERENT",
        control.traffic().gets() + " / " + s3e.traffic().gets(),
        decimal(control.traffic().bytesSent(), 1e6)
            + " / "
            + decimal(s3e.traffic().bytesSent(), 1e6),
        control.traffic().heads() + " / " + s3e.traffic().heads(),
        text(control.given()),
        text(control.input()) + " / " + text(s3e.input()),
        decimal(control.exitTime().toMillis(), 1e3)
            + " / "
            + decimal(s3e.exitTime().toMillis(), 1e3),
        decimal(control.wall().toMillis(), 1e3) + " / " + decimal(s3e.wall().toMillis(), 1e3),
        sizes(s3e.traffic()));
  }

  private static String line(List<String> cells) {
    return "| " + String.join(" | ", cells) + " |\n";
  }

  private static String decimal(long value, double unit) {
    return String.format(Locale.ROOT, "%.1f", value / unit);
  }

  private static String text(OptionalLong bytes) {
    return bytes.isPresent() ? Long.toString(bytes.getAsLong()) : "–";
  }

  /** How many GETs brought up to so many KiB, a power of two: {@code ≤64: 1, ≤1024: 12}. */
  private static String sizes(Traffic traffic) {
    Map<Long, Integer> numbers = new TreeMap<>();
    for (long size : traffic.getSizes()) {
      long kib = Math.max(1, (size + 1023) / 1024);
      numbers.merge(kib == 1 ? 1 : Long.highestOneBit(kib - 1) * 2, 1, Integer::sum);
    }
    return numbers.entrySet().stream()
        .map(each -> "≤" + each.getKey() + ": " + each.getValue())
        .collect(Collectors.joining(", "));
  }

  private static Map<String, Object> fields(Row row) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("engine", row.engine());
    fields.put("job", row.job());
    fields.put("classic", fields(row.control()));
    fields.put("s3e", fields(row.s3e()));
    return fields;
  }

  private static Map<String, Object> fields(Outcome outcome) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("digest", outcome.digest());
    fields.put("exitCode", outcome.exitCode());
    fields.put("exitMillis", outcome.exitTime().toMillis());
    fields.put("wallMillis", outcome.wall().toMillis());
    fields.put("gets", outcome.traffic().gets());
    fields.put("heads", outcome.traffic().heads());
    fields.put("bytesFromS3", outcome.traffic().bytesSent());
    fields.put("getSizes", outcome.traffic().getSizes());
    outcome.given().ifPresent(bytes -> fields.put("bytesGiven", bytes));
    outcome.input().ifPresent(bytes -> fields.put("inputMetric", bytes));
    return fields;
  }
}
