// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.history;

import io.s3e.columnar.PlaceFacts;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What one JVM has come to know of the tables of its job, until that is written: the places that it
 * opened files of, what its engines have learnt of these, and what other JVMs have reported. Each
 * of the three keeps the latest {@value JobFacts#MOST_TABLES}. Any thread.
 */
final class JobTables {
  /** Executors come and go for as long as a driver lives. */
  static final int MOST_REPORTS = 1000;

  /** Of a JVM's reports one in so many has all tables, since those before may be lost. */
  static final int REPORTS_TO_WHOLE = 12;

  // Guarded by this.

  /** Places of files that were opened, those that were opened last: the keys. */
  private final Map<String, Boolean> opened = latest();

  private final Map<String, TableFacts> learnt = latest();

  /** Places of which something was learnt since the last report: the keys. */
  private final Map<String, Boolean> unreported = latest();

  private int reportsMade;

  /** What other JVMs have reported of tables: they read the same ones. */
  private final Map<String, TableFacts> told = latest();

  /**
   * By JVM, without tables; those that have no place of their own any more are one, without a name.
   */
  private final Map<String, JobFacts> reports = new HashMap<>();

  /** By place: as many as are kept, those that were touched last. */
  private static <T> Map<String, T> latest() {
    return new LinkedHashMap<>(16, 0.75f, true) {
      @Override
      protected boolean removeEldestEntry(Map.Entry<String, T> eldest) {
        return size() > JobFacts.MOST_TABLES;
      }
    };
  }

  synchronized void open(String place) {
    opened.put(place, true);
  }

  /**
   * Takes what was learnt of the tables that were opened.
   *
   * @param known what engines have learnt, by place
   */
  synchronized void learn(Map<String, PlaceFacts> known) {
    long now = System.currentTimeMillis();
    for (String place : opened.keySet()) {
      PlaceFacts facts = known.get(place);
      // A place whose files have no columns tells nothing: it is never kept, and new to each JVM.
      TableFacts table = facts == null ? null : TableFacts.of(place, now, facts).possible();
      if (table != null) {
        TableFacts before = learnt.get(place);
        TableFacts after = before == null ? table : before.then(table);
        learnt.put(place, after);
        if (before == null || !before.tellsAsMuchAs(after)) {
          unreported.put(place, true);
        }
      }
    }
  }

  /** Those tables that the report before did not tell the same of; all, once in a while. */
  synchronized List<TableFacts> news() {
    boolean isWhole = reportsMade++ % REPORTS_TO_WHOLE == 0;
    List<TableFacts> news =
        learnt.values().stream()
            .filter(table -> isWhole || unreported.containsKey(table.place()))
            .toList();
    unreported.clear();
    return news;
  }

  /** Takes the latest report of another JVM in place of the one before. */
  synchronized void take(String from, JobFacts report) {
    JobFacts tasks = report.withLatestTables(0);
    report.tables().forEach(table -> told.merge(table.place(), table, TableFacts::with));
    reports.put(from, tasks);
    if (reports.size() > MOST_REPORTS) {
      JobFacts all = tasks.with(reports.values());
      reports.clear();
      reports.put("", all);
    }
  }

  /** All that is known, with the run of this JVM. */
  synchronized JobFacts all(String job, JobFacts.Run mine) {
    JobFacts ofOthers = new JobFacts(job, "", List.of(), List.copyOf(told.values()));
    JobFacts own = new JobFacts(job, "", List.of(mine), List.copyOf(learnt.values()));
    return own.with(reports.values()).with(ofOthers);
  }

  /** Whether something was learnt of a table that is not at one of the places. */
  synchronized boolean hasOthersThan(Set<String> places) {
    return !places.containsAll(learnt.keySet());
  }

  /** How much it holds, of places, tables and reports; for tests. */
  synchronized int held() {
    int ofReports = reports.values().stream().mapToInt(each -> 1 + each.tables().size()).sum();
    return opened.size() + learnt.size() + told.size() + ofReports;
  }
}
