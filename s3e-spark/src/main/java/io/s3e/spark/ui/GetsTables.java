// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.ui;

import io.s3e.spark.stages.GetSummary;
import io.s3e.spark.stages.GetsOfReason;
import io.s3e.spark.stages.SlowGet;
import io.s3e.spark.stages.StageAttempt;
import io.s3e.spark.stages.StageReads;
import io.s3e.spark.ui.ReadsTable.Cell;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import scala.xml.Utility;

/**
 * What GETs were for, as HTML: a row for each reason of the stages together, then of the latest
 * stages one by one, then the slowest GETs of all stages. Nothing where no stage tells of its GETs.
 */
final class GetsTables {
  /** Of which reasons are shown one by one: what somebody looks at while a query is tuned. */
  private static final int MOST_STAGES = 20;

  private static final int MOST_SLOW = 20;

  private static final double MILLIS = 1e6;

  /** What the words mean; those of docs/TROUBLESHOOTING.md. */
  private static final Map<String, String> MEANINGS =
      Map.of(
          "DEMAND", "A reader waited for the bytes, or for the first of them",
          "ASKED", "A reader had asked for the bytes and waited for others first",
          "HEDGE", "The GET for them was late, and a second one went out",
          "WINDOW", "Their reader goes forward",
          "GUESS", "Spark had told that the file will be opened next");

  private static final String OF_LAYOUT =
      "The layout of a Parquet or ORC file, or of files beside it, says that they are read next";

  private record Row(StageAttempt stage, GetsOfReason gets) {}

  private final List<StageReads> stages;
  private final GetSummary others;
  private final Function<StageAttempt, String> link;

  /**
   * @param stages the latest first
   * @param others of the stages before those
   * @param link the HTML of a stage's number
   */
  GetsTables(List<StageReads> stages, GetSummary others, Function<StageAttempt, String> link) {
    this.stages = stages.stream().filter(each -> !each.gets().reasons().isEmpty()).toList();
    this.others = others;
    this.link = link;
  }

  String html() {
    if (stages.isEmpty() && others.reasons().isEmpty()) {
      return "";
    }
    List<StageReads> latest = stages.subList(0, Math.min(MOST_STAGES, stages.size()));
    return "<h4>What GETs were for</h4><p class=\"s3e-quiet\">As it stood when each task ended,"
        + " of the latest 4,096 GETs of its executor.</p>"
        + section(withSums(new ReadsTable<GetsOfReason>("s3e-reasons"), row -> row).html(sums()))
        + "<h4>What GETs were for, by stage (the latest "
        + latest.size()
        + ")</h4>"
        + section(ofStages().html(rows(latest)))
        + "<h4>The slowest GETs</h4>"
        + section(slowest().html(slowGets()));
  }

  private static String section(String table) {
    return "<div class=\"s3e-scroll\">" + table + "</div>";
  }

  private List<GetsOfReason> sums() {
    Map<String, GetsOfReason> sums = new LinkedHashMap<>();
    all()
        .flatMap(gets -> gets.reasons().stream())
        .forEach(one -> sums.merge(one.reason(), one, GetsOfReason::plus));
    return sums.values().stream()
        .sorted(Comparator.comparingLong(GetsOfReason::received).reversed())
        .toList();
  }

  private Stream<GetSummary> all() {
    return Stream.concat(stages.stream().map(StageReads::gets), Stream.of(others));
  }

  private static List<Row> rows(List<StageReads> stages) {
    List<Row> rows = new ArrayList<>();
    for (StageReads stage : stages) {
      stage.gets().reasons().forEach(one -> rows.add(new Row(stage.stage(), one)));
    }
    return rows;
  }

  private List<SlowGet> slowGets() {
    return all()
        .flatMap(gets -> gets.slowest().stream())
        .sorted(Comparator.comparingDouble(SlowGet::millis).reversed())
        .limit(MOST_SLOW)
        .toList();
  }

  private ReadsTable<Row> ofStages() {
    ReadsTable<Row> table =
        new ReadsTable<Row>("s3e-stage-reasons")
            .number(
                "Stage",
                "Its id, and its attempt where it is not the first",
                row -> new Cell(link.apply(row.stage()), row.stage().sortKey()));
    return withSums(table, Row::gets);
  }

  private static <T> ReadsTable<T> withSums(ReadsTable<T> table, Function<T, GetsOfReason> gets) {
    return table
        .text("For", "Why they were sent", row -> reason(gets.apply(row).reason()))
        .number("GETs", "GETs of that reason", count(gets, GetsOfReason::gets))
        .number(
            "Failed",
            "Those of them that failed, or were given up since nobody wanted the bytes any more",
            count(gets, GetsOfReason::failed))
        .number("Received", "Bytes that came", bytes(gets, GetsOfReason::received))
        .number("Read", "Bytes in blocks that somebody has read", bytes(gets, GetsOfReason::used))
        .number(
            "Not read",
            "The others, whether they are in memory still or not",
            bytes(gets, GetsOfReason::unread))
        .number(
            "First byte",
            "From the start of a GET to the head of its answer, on average",
            row -> mean(gets.apply(row)))
        .number(
            "Longest",
            "The longest of these times",
            row -> millis(gets.apply(row).longestAnswerNanos() / MILLIS));
  }

  private static ReadsTable<SlowGet> slowest() {
    return new ReadsTable<SlowGet>("s3e-slowest")
        .text("Time", "When it began, UTC", get -> Cell.text(get.time()))
        .text("Task", "Stage and id of the task", get -> orNone(get.label()))
        .text("Executor", "Its id", get -> orNone(get.executorId()))
        .text("For", "Why it was sent", get -> reason(get.reason()))
        .text(
            "Object", "Bucket and key", get -> Cell.name("s3://" + get.bucket() + "/" + get.key()))
        .number("From", "Offset of the first byte", get -> number(get.start()))
        .number("Bytes", "How many were asked for", get -> number(get.end() - get.start()))
        .number("First byte", "Time to the head of the answer", get -> millis(get.answeredMillis()))
        .number("Took", "Time to its end", get -> millis(get.tookMillis()))
        .text("Outcome", "How it ended, or how far it had come", GetsTables::outcome)
        .text("Request", "S3's name of it", get -> orNone(get.requestId()));
  }

  private static Cell reason(String word) {
    String meaning = MEANINGS.getOrDefault(word, OF_LAYOUT);
    return new Cell(
        "<span title=\"" + Utility.escape(meaning) + "\">" + Utility.escape(word) + "</span>",
        word);
  }

  private static Cell outcome(SlowGet get) {
    String attempt = get.attempt() > 1 ? ", attempt " + get.attempt() : "";
    String failure = get.failure() == null ? "" : ": " + get.failure();
    return Cell.text(get.state() + attempt + failure);
  }

  private static Cell orNone(@Nullable String text) {
    return Cell.text(text == null ? Figures.NONE : text);
  }

  private static Cell mean(GetsOfReason gets) {
    return gets.answered() == 0
        ? millis(null)
        : millis(gets.answerNanos() / MILLIS / gets.answered());
  }

  private static Cell millis(@Nullable Double millis) {
    return millis == null || millis == 0
        ? Cell.number(Figures.NONE, 0)
        : Cell.number(String.format(Locale.ROOT, "%,.1f ms", millis), millis);
  }

  private static Cell number(long number) {
    return Cell.number(Figures.count(number), (double) number);
  }

  private static <T> Function<T, Cell> count(
      Function<T, GetsOfReason> gets, ToLongFunction<GetsOfReason> of) {
    return row -> number(of.applyAsLong(gets.apply(row)));
  }

  private static <T> Function<T, Cell> bytes(
      Function<T, GetsOfReason> gets, ToLongFunction<GetsOfReason> of) {
    return row -> {
      long bytes = of.applyAsLong(gets.apply(row));
      return Cell.number(Figures.bytes(bytes), (double) bytes);
    };
  }
}
