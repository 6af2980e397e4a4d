// SPDX-License-Identifier: Apache-2.0
package io.s3e.explain;

import io.s3e.hadoop.cost.Prices;
import io.s3e.hadoop.cost.Saving;
import io.s3e.hadoop.cost.Sizes;
import io.s3e.hadoop.history.JobFacts;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Writes an {@link Explanation}: lines for people, and a document for programs. */
public final class ExplanationText {
  /** More rows than that nobody reads. */
  private static final int ROWS = 10;

  /** A smaller part of the cost has no row. */
  private static final double SHOWN = 0.01;

  /** Of a job's name, which may be the text of a query. */
  private static final int MOST_LETTERS = 100;

  private static final String CUT = "...";
  private static final Pattern BLANKS = Pattern.compile("[\\s\\p{Cc}\\u2028\\u2029]+");

  private ExplanationText() {}

  /** A row of where time and money went. */
  private record Spent(
      String place, long runMillis, long waitedMillis, long readBytes, long requests, double usd) {}

  /** The lines, without an end of line after the last. */
  public static String text(Explanation explanation) {
    List<String> lines = new ArrayList<>();
    double whole = explanation.cost();
    lines.add(head(explanation, whole));
    explanation.damages().forEach(damage -> lines.add("  incomplete: " + JobFacts.shown(damage)));
    for (var part : spent(explanation, ExplanationText::shown).entrySet()) {
      part.getValue().stream()
          .filter(row -> row.usd() >= SHOWN * whole)
          .limit(ROWS)
          .forEach(row -> lines.add(line(row, whole)));
    }
    if (explanation.findings().isEmpty()) {
      lines.add("Nothing was found that is worth a change.");
    }
    int number = 1;
    for (Finding finding : explanation.findings()) {
      lines.add("");
      lines.add(number + ". " + finding.kind().title + ": " + JobFacts.shown(finding.place()));
      lines.add("   " + finding.evidence());
      lines.add("   " + finding.change());
      if (!finding.kind().isRemark()) {
        lines.add("   saves about " + saving(explanation, finding.saving(), whole));
      }
      number++;
    }
    return String.join(System.lineSeparator(), lines);
  }

  private static String head(Explanation explanation, double whole) {
    Application application = explanation.application();
    return String.join(
        " ",
        application.id.isEmpty() ? explanation.log() : application.id,
        "\"" + shown(application.name) + "\",",
        "Spark " + application.spark + ",",
        application.slots() + " slots,",
        Sizes.seconds(application.runMillis()) + " of tasks in",
        Sizes.seconds(application.slotMillis()) + " of slots,",
        Sizes.dollars(whole) + ",",
        application.isReadByS3e() ? from(application.s3e()) : "without events of S3E");
  }

  private static String from(S3eReads reads) {
    return "read "
        + Sizes.bytes(reads.bytesRead())
        + " (from memory "
        + Sizes.bytes(reads.bytesFromMemory())
        + ", disk "
        + Sizes.bytes(reads.bytesFromDisk())
        + ", S3 "
        + Sizes.bytes(reads.bytesFromS3())
        + ")";
  }

  /** A name on one line, and its beginning where it is long. */
  private static String shown(String name) {
    String line = JobFacts.shown(BLANKS.matcher(name).replaceAll(" ").strip());
    return line.codePointCount(0, line.length()) <= MOST_LETTERS
        ? line
        : line.substring(0, line.offsetByCodePoints(0, MOST_LETTERS - CUT.length())) + CUT;
  }

  private static String line(Spent row, double whole) {
    return "  "
        + Sizes.percent(row.usd(), whole)
        + "  "
        + JobFacts.shown(row.place())
        + ": "
        + Sizes.bytes(row.readBytes())
        + " read, "
        + requests(row)
        + ", tasks "
        + Sizes.seconds(row.runMillis())
        + ", waited "
        + Sizes.seconds(row.waitedMillis());
  }

  /**
   * Of what has neither events nor a count of files, as Iceberg's {@code S3EFileIO}, nobody knows.
   */
  private static String requests(Spent row) {
    return row.requests() == 0 && row.readBytes() > 0
        ? "requests not known"
        : Sizes.count(row.requests()) + " requests";
  }

  private static String saving(Explanation explanation, Saving saving, double whole) {
    double usd = explanation.prices().of(saving);
    return Sizes.seconds(saving.slotMillis())
        + " of task slots and "
        + Sizes.count(saving.requests())
        + " requests: "
        + Sizes.dollars(usd)
        + ", "
        + Sizes.percent(usd, whole)
        + " of what slots and requests cost";
  }

  /**
   * Tables, jobs and stages, each with the dearest first.
   *
   * @param named what names of jobs and stages become
   */
  private static Map<String, List<Spent>> spent(
      Explanation explanation, UnaryOperator<String> named) {
    Prices prices = explanation.prices();
    Map<String, List<Spent>> spent = new LinkedHashMap<>();
    spent.put(
        "tables",
        dearestFirst(
            explanation.tables().stream()
                .map(
                    table ->
                        new Spent(
                            table.table(),
                            table.runMillis(),
                            table.waitedMillis(),
                            table.readBytes(),
                            table.requests(),
                            prices.of(table.runMillis(), table.requests())))
                .toList()));
    spent.put("jobs", dearestFirst(ofStages(explanation, stage -> job(explanation, stage, named))));
    spent.put(
        "stages",
        dearestFirst(
            ofStages(explanation, stage -> stage.label() + " (" + named.apply(stage.name) + ")")));
    return spent;
  }

  private static String job(Explanation explanation, Stage stage, UnaryOperator<String> named) {
    int job = explanation.application().jobOfStage.getOrDefault(stage.id, -1);
    String name = explanation.application().jobNames.getOrDefault(job, "");
    return "job " + job + (name.isEmpty() ? "" : " (" + named.apply(name) + ")");
  }

  private static List<Spent> ofStages(Explanation explanation, Function<Stage, String> place) {
    Map<String, List<Stage>> places =
        explanation.application().stages().stream()
            .filter(stage -> stage.tasks() > 0)
            .collect(Collectors.groupingBy(place, LinkedHashMap::new, Collectors.toList()));
    Map<Stage, Long> opened =
        explanation.tables().stream()
            .flatMap(table -> table.runs().stream())
            .collect(
                Collectors.groupingBy(
                    TableReads.Run::stage,
                    Collectors.summingLong(run -> run.requests() - run.s3e().gets())));
    List<Spent> rows = new ArrayList<>();
    places.forEach(
        (name, stages) -> {
          long run = stages.stream().mapToLong(Stage::runMillis).sum();
          S3eReads s3e = stages.stream().map(Stage::s3e).reduce(S3eReads.NONE, S3eReads::plus);
          long requests =
              stages.stream().mapToLong(stage -> opened.getOrDefault(stage, 0L)).sum() + s3e.gets();
          rows.add(
              new Spent(
                  name,
                  run,
                  stages.stream()
                      .filter(s -> s.readBytes() > 0)
                      .mapToLong(Stage::waitedMillis)
                      .sum(),
                  stages.stream().mapToLong(Stage::readBytes).sum(),
                  requests,
                  explanation.prices().of(run, requests)));
        });
    return rows;
  }

  private static List<Spent> dearestFirst(List<Spent> rows) {
    return rows.stream().sorted(Comparator.comparingDouble(Spent::usd).reversed()).toList();
  }

  /** The same for a program: names stay, fields may be added. */
  public static Map<String, Object> document(Explanation explanation) {
    Map<String, Object> document = new LinkedHashMap<>();
    Application application = explanation.application();
    document.put("log", explanation.log());
    document.put("id", application.id);
    document.put("name", application.name);
    document.put("spark", application.spark);
    document.put("slots", application.slots());
    document.put("runMillis", application.runMillis());
    document.put("slotMillis", application.slotMillis());
    document.put("usd", explanation.cost());
    document.put("damages", explanation.damages());
    if (application.isReadByS3e()) {
      document.put("s3e", application.s3e());
    }
    document.putAll(spent(explanation, UnaryOperator.identity()));
    document.put(
        "findings",
        explanation.findings().stream().map(finding -> document(explanation, finding)).toList());
    return document;
  }

  private static Map<String, Object> document(Explanation explanation, Finding finding) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("kind", finding.kind());
    document.put("scope", finding.scope());
    document.put("place", finding.place());
    document.put("evidence", finding.evidence());
    document.put("change", finding.change());
    document.put("savedSlotMillis", finding.saving().slotMillis());
    document.put("savedRequests", finding.saving().requests());
    document.put("savedUsd", explanation.prices().of(finding.saving()));
    return document;
  }
}
