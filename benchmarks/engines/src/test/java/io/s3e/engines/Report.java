package io.s3e.engines;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;

/**
 * The table of all rows of this run of the tests: printed as a row comes, and written to {@code
 * target/engines} as {@code rows.md} and {@code rows.json}.
 */
final class Report {
  private static final String HEAD =
      "| engine | job | result | GETs S3A / S3E | MB from S3 | HEADs | given / input | exit s |"
          + " wall s | sizes of S3E's GETs, KiB: number |\n"
          + "|---|---|---|---|---|---|---|---|---|---|\n";

  private static final List<Row> ROWS = new ArrayList<>();

  private Report() {}

  static synchronized void add(Row row) throws IOException {
    ROWS.add(row);
    System.out.println(line(row).strip());
    Path directory = Files.createDirectories(Harness.OUTPUT);
    StringBuilder table = new StringBuilder(HEAD);
    ROWS.forEach(each -> table.append(line(each)));
    Files.writeString(directory.resolve("rows.md"), table);
    new ObjectMapper()
        .enable(SerializationFeature.INDENT_OUTPUT)
        .writeValue(
            directory.resolve("rows.json").toFile(), ROWS.stream().map(Report::fields).toList());
  }

  private static String line(Row row) {
    Outcome control = row.control();
    Outcome s3e = row.s3e();
    return String.format(
        Locale.ROOT,
        "| %s | %s | %s | %d / %d | %.1f / %.1f | %d / %d | %s / %s | %.1f / %.1f | %.1f / %.1f |"
            + " %s |%n",
        row.engine(),
        row.job(),
        control.digest().equals(s3e.digest()) ? "equal" : "DIFFERENT",
        control.traffic().gets(),
        s3e.traffic().gets(),
        control.traffic().bytesSent() / 1e6,
        s3e.traffic().bytesSent() / 1e6,
        control.traffic().heads(),
        s3e.traffic().heads(),
        text(control.given()),
        text(s3e.input()),
        control.exitTime().toMillis() / 1e3,
        s3e.exitTime().toMillis() / 1e3,
        control.wall().toMillis() / 1e3,
        s3e.wall().toMillis() / 1e3,
        sizes(s3e.traffic()));
  }

  private static String text(OptionalLong bytes) {
    return bytes.isPresent() ? Long.toString(bytes.getAsLong()) : "–";
  }

  /** The lengths of GETs in KiB, rounded up, and how many of each, for example {@code 1024: 12}. */
  private static String sizes(Traffic traffic) {
    Map<Long, Integer> numbers = new LinkedHashMap<>();
    for (long size : traffic.getSizes()) {
      numbers.merge((size + 1023) / 1024, 1, Integer::sum);
    }
    StringBuilder text = new StringBuilder();
    numbers.forEach(
        (size, number) ->
            text.append(text.isEmpty() ? "" : ", ").append(size).append(": ").append(number));
    return text.toString();
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
