// SPDX-License-Identifier: Apache-2.0
package io.s3e.explain;

import io.s3e.explain.Finding.Kind;
import io.s3e.explain.Finding.Scope;
import io.s3e.hadoop.cost.Saving;
import io.s3e.hadoop.cost.Sizes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** How the files of a table are laid out: row groups, footers, and what filters can leave out. */
final class LayoutRule implements Rule {
  private static final long SMALL_GROUP_BYTES = 16L << 20;
  private static final long LARGE_GROUP_BYTES = 512L << 20;
  private static final long GOOD_GROUP_BYTES = 128L << 20;
  private static final long LARGE_FOOTER_BYTES = 1L << 20;

  /** A file that is as short as that has short row groups by need. */
  private static final int GROUPS_OF_A_FILE = 3;

  /** What a connection to S3 brings (docs/BENCHMARKS.md). */
  private static final long BYTES_A_MILLI = 60_000;

  /** A filter that keeps fewer rows than one of so many has most of the files to leave out. */
  private static final long FEW_ROWS = 1_000;

  private static final long MANY_ROWS = 100_000;

  private static final Pattern FILTERED =
      Pattern.compile("(?:EqualTo|In|GreaterThan\\w*|LessThan\\w*)\\(([^,()]+),");

  @Override
  public List<Finding> find(Facts facts) {
    List<Finding> findings = new ArrayList<>();
    for (TableReads table : facts.tables()) {
      Optional<FileLayout> layout = facts.layout(table);
      layout.ifPresent(seen -> rowGroups(table, seen, findings));
      layout.ifPresent(seen -> footers(table, seen, findings));
      filters(facts.application(), table, layout, findings);
    }
    return findings;
  }

  private static void rowGroups(TableReads table, FileLayout seen, List<Finding> findings) {
    boolean isSmall =
        seen.rowGroupBytes() < SMALL_GROUP_BYTES
            && seen.rowGroups() >= GROUPS_OF_A_FILE * seen.files();
    boolean isLarge = seen.rowGroupBytes() > LARGE_GROUP_BYTES;
    if (seen.rowGroups() == 0 || !(isSmall || isLarge)) {
      return;
    }
    String evidence =
        Sizes.count(seen.rowGroups())
            + " row groups of "
            + Sizes.bytes(seen.rowGroupBytes())
            + " on average in "
            + seen.files()
            + " files of "
            + Sizes.bytes(seen.fileBytes() / seen.files());
    long groups = Math.round((double) table.fileBytes() / seen.rowGroupBytes());
    long good = Math.max(table.files(), table.fileBytes() / GOOD_GROUP_BYTES);
    long excess = Math.max(0, groups - good);
    findings.add(
        isSmall
            ? new Finding(
                Kind.SMALL_ROW_GROUPS,
                Scope.TABLE,
                table.table(),
                evidence,
                "write row groups of about 128 MiB (parquet.block.size): each is asked for and"
                    + " decoded by itself",
                new Saving(
                    Math.min(
                        Math.round(table.waitedMillis() * (1 - (double) good / groups)),
                        excess * ROUND_TRIP_MILLIS),
                    Math.min(excess, Math.round(table.requests() * (1 - (double) good / groups)))))
            : new Finding(
                Kind.LARGE_ROW_GROUPS,
                Scope.TABLE,
                table.table(),
                evidence + ", the largest " + Sizes.bytes(seen.largestRowGroupBytes()),
                "write row groups of about 128 MiB (parquet.block.size): one task reads a row"
                    + " group, however long",
                new Saving(table.waitedMillis() / 2, 0)));
  }

  private static void footers(TableReads table, FileLayout seen, List<Finding> findings) {
    if (seen.footerBytes() < LARGE_FOOTER_BYTES) {
      return;
    }
    // Each task reads the footer of its part's file.
    long opened =
        table.runs().stream().mapToLong(run -> Math.max(run.stage().tasks(), run.files())).sum();
    long millis = opened * (seen.footerBytes() / BYTES_A_MILLI + ROUND_TRIP_MILLIS);
    findings.add(
        new Finding(
            Kind.LARGE_FOOTERS,
            Scope.TABLE,
            table.table(),
            "a footer of "
                + Sizes.bytes(seen.footerBytes())
                + ", read "
                + Sizes.count(opened)
                + " times; "
                + Sizes.count(seen.rowGroups())
                + " row groups in "
                + seen.files()
                + " files",
            "write fewer and longer row groups, fewer columns, or no statistics of long strings"
                + " (parquet.columnindex.truncate.length, parquet.statistics.truncate.length)",
            new Saving(Math.min(millis, table.runMillis()), opened)));
  }

  private static void filters(
      Application application,
      TableReads table,
      Optional<FileLayout> layout,
      List<Finding> findings) {
    for (TableReads.Run run : table.runs()) {
      Optional<TableScan> scan = run.scan().filter(LayoutRule::isFiltered);
      if (scan.isEmpty()) {
        continue;
      }
      long rows = application.metric(scan.get(), TableScan.OUTPUT_ROWS);
      long kept = application.metrics.getOrDefault(scan.get().filterRows(), rows);
      if (rows < MANY_ROWS || kept > rows / FEW_ROWS) {
        continue;
      }
      // What is kept is spread a little, even in sorted files.
      double pruned = 1 - 10.0 * Math.max(kept, 1) / rows;
      findings.add(
          new Finding(
              Kind.FILTER_WITHOUT_PRUNING,
              Scope.TABLE,
              table.table(),
              "a filter of "
                  + run.stage().label()
                  + " kept "
                  + Sizes.count(kept)
                  + " of "
                  + Sizes.count(rows)
                  + " rows that were read: "
                  + scan.get().filters()
                  + layout.map(seen -> lacks(seen, columns(scan.get()))).orElse(""),
              "sort the table by "
                  + String.join(", ", columns(scan.get()))
                  + " when it is written, or partition it, so that statistics rule out row groups"
                  + " and pages; for equality a Bloom filter does, too",
              new Saving(
                  Math.round(run.runMillis() * pruned), Math.round(run.requests() * pruned))));
    }
  }

  private static boolean isFiltered(TableScan scan) {
    return scan.isColumnar() && !columns(scan).isEmpty() && scan.filterRows() >= 0;
  }

  /** The columns of which filters ask for some values. */
  private static Set<String> columns(TableScan scan) {
    Set<String> columns = new TreeSet<>();
    Matcher filter = FILTERED.matcher(scan.filters());
    while (filter.find()) {
      columns.add(filter.group(1));
    }
    return columns;
  }

  private static String lacks(FileLayout seen, Set<String> columns) {
    StringBuilder text = new StringBuilder();
    Set<String> noDictionary = new TreeSet<>(columns);
    noDictionary.retainAll(seen.withoutDictionary());
    if (!noDictionary.isEmpty()) {
      text.append("; no dictionary for ").append(String.join(", ", noDictionary));
    }
    Set<String> noIndex = new TreeSet<>(columns);
    noIndex.retainAll(seen.withoutIndex());
    if (!noIndex.isEmpty()) {
      text.append("; no page index for ").append(String.join(", ", noIndex));
    }
    return text.toString();
  }
}
