// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.history;

import io.s3e.columnar.PlaceFacts;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What is kept of one job: its latest runs, and the tables that they read. A value: of any two,
 * {@link #with} makes one that has what both have, in whatever order and however often, so that
 * writers need no lock.
 *
 * @param job the name, folded
 * @param off why the history is not used, in words; empty while it is
 * @param runs the latest {@value #MOST_RUNS}, in parts, the latest last
 * @param tables what was learnt of each, by place
 */
public record JobFacts(String job, String off, List<Run> runs, List<TableFacts> tables) {
  static final int MOST_RUNS = 10;

  /** Of all runs: of one in which each task has a JVM of its own, the latest. */
  private static final int MOST_PARTS = 2000;

  static final int MOST_TABLES = 1000;
  private static final int MOST_WORDS = 1000;
  private static final Pattern NOT_SHOWN = Pattern.compile("[\\p{C}\\u2028\\u2029]");

  /**
   * What one JVM tells of one run.
   *
   * @param id of the run
   * @param part of the JVM in it
   * @param millis when it was told last, since 1970
   */
  public record Run(String id, String part, long millis, Blocked with, Blocked without) {
    public Run {
      millis = TableFacts.possible(millis);
      with = with == null ? Blocked.NONE : with;
      without = without == null ? Blocked.NONE : without;
    }

    boolean isPossible() {
      return isWord(id) && isWord(part) && with.isPossible() && without.isPossible();
    }

    private static boolean isWord(@Nullable String text) {
      return text != null && !text.isEmpty() && text.length() <= 200;
    }

    private List<String> key() {
      return List.of(id, part);
    }
  }

  public JobFacts {
    job = job == null ? "" : job;
    off = off == null ? "" : shown(off);
    runs = latest(TableFacts.copy(runs));
    tables = latestTables(TableFacts.copy(tables));
  }

  /**
   * As logs and terminals are shown what whoever may write the directory has chosen: the first
   * {@value #MOST_WORDS} letters, with a question mark for each line break and control character.
   */
  public static String shown(String words) {
    String first = words.substring(0, Math.min(MOST_WORDS, words.length()));
    return NOT_SHOWN.matcher(first).replaceAll("?");
  }

  /** Those of the latest runs, each part once. */
  private static List<Run> latest(List<Run> all) {
    Map<List<String>, Run> parts = new LinkedHashMap<>();
    all.stream()
        .filter(Run::isPossible)
        .forEach(run -> parts.merge(run.key(), run, JobFacts::later));
    List<Run> latest = new ArrayList<>(parts.values());
    latest.sort(Comparator.comparingLong(Run::millis).thenComparing(run -> run.id + run.part));
    Set<String> ids = new HashSet<>();
    for (int i = latest.size() - 1; i >= 0 && ids.size() < MOST_RUNS; i--) {
      ids.add(latest.get(i).id);
    }
    latest.removeIf(run -> !ids.contains(run.id));
    return List.copyOf(latest.subList(Math.max(0, latest.size() - MOST_PARTS), latest.size()));
  }

  /** A part tells again what it has told, and more. The same one in whatever order. */
  private static Run later(Run one, Run two) {
    Comparator<Run> order =
        Comparator.<Run>comparingLong(run -> run.with.tasks() + run.without.tasks())
            .thenComparingLong(Run::millis)
            .thenComparing(Run::toString);
    return order.compare(one, two) < 0 ? two : one;
  }

  /** The latest, each place once. */
  private static List<TableFacts> latestTables(List<TableFacts> all) {
    List<TableFacts> inOrder = new ArrayList<>(all);
    inOrder.sort(Comparator.comparingLong(TableFacts::millis).thenComparing(TableFacts::place));
    Map<String, TableFacts> places = new LinkedHashMap<>();
    for (TableFacts each : inOrder) {
      TableFacts possible = each.possible();
      if (possible != null) {
        TableFacts before = places.remove(each.place());
        places.put(each.place(), before == null ? possible : before.then(possible));
      }
    }
    List<TableFacts> latest = List.copyOf(places.values());
    return latest.subList(Math.max(0, latest.size() - MOST_TABLES), latest.size());
  }

  static JobFacts none(String job) {
    return new JobFacts(job, "", List.of(), List.of());
  }

  /** What both have. */
  public JobFacts with(JobFacts other) {
    return with(List.of(other));
  }

  /** What all have. */
  JobFacts with(Collection<JobFacts> others) {
    List<JobFacts> all = Stream.concat(Stream.of(this), others.stream()).toList();
    return new JobFacts(
        job,
        all.stream().map(JobFacts::off).filter(why -> !why.isEmpty()).findFirst().orElse(""),
        all.stream().flatMap(each -> each.runs.stream()).toList(),
        all.stream().flatMap(each -> each.tables.stream()).toList());
  }

  /** With so many tables, those that were read last. */
  JobFacts withLatestTables(int count) {
    return new JobFacts(job, off, runs, lastOf(tables, count));
  }

  /** With so many parts of runs, those that were told last. */
  JobFacts withLatestRuns(int count) {
    return new JobFacts(job, off, lastOf(runs, count), tables);
  }

  private static <T> List<T> lastOf(List<T> parts, int count) {
    return parts.subList(parts.size() - count, parts.size());
  }

  /** Of all runs. */
  public Comparison comparison() {
    return comparison(runs);
  }

  private static Comparison comparison(List<Run> some) {
    Blocked with = Blocked.NONE;
    Blocked without = Blocked.NONE;
    for (Run run : some) {
      with = with.plus(run.with);
      without = without.plus(run.without);
    }
    return new Comparison(with, without);
  }

  /**
   * The same, off where that is due: since one run was much worse with the history than without, or
   * since enough tasks without have not shown that it helps.
   */
  JobFacts judged() {
    if (!off.isEmpty()) {
      return this;
    }
    Map<String, List<Run>> byId = new HashMap<>();
    runs.forEach(run -> byId.computeIfAbsent(run.id, id -> new ArrayList<>()).add(run));
    for (Map.Entry<String, List<Run>> each : byId.entrySet()) {
      Comparison one = comparison(each.getValue());
      if (one.isMuchWorse()) {
        return off("run " + each.getKey() + " was worse: " + one.text());
      }
    }
    Comparison all = comparison();
    return all.isEnough() && !all.isBetter() ? off("it does not help: " + all.text()) : this;
  }

  private JobFacts off(String why) {
    return new JobFacts(job, why, runs, tables);
  }

  /** By place, as the core takes them. */
  Map<String, PlaceFacts> places() {
    Map<String, PlaceFacts> places = new HashMap<>();
    tables.forEach(table -> places.put(table.place(), table.facts()));
    return places;
  }
}
