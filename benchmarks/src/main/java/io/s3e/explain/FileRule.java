// SPDX-License-Identifier: Apache-2.0
package io.s3e.explain;

import io.s3e.explain.Finding.Kind;
import io.s3e.explain.Finding.Scope;
import io.s3e.hadoop.cost.Saving;
import io.s3e.hadoop.cost.Sizes;
import java.util.ArrayList;
import java.util.List;

/** Files that are too small, and row groups that are larger than what a task gets. */
final class FileRule implements Rule {
  /** Below this length a file's first answer takes longer than its bytes, at 60 MB/s many times. */
  private static final long SMALL_BYTES = 16L << 20;

  /** What engines write where nobody tells them otherwise. */
  private static final long GOOD_BYTES = 128L << 20;

  /** Few files are no trouble, however small. */
  private static final long FEW_FILES = 16;

  private static final int FEW_TASKS = 4;

  @Override
  public List<Finding> find(Facts facts) {
    List<Finding> findings = new ArrayList<>();
    for (TableReads table : facts.tables()) {
      smallFiles(table, findings);
      for (TableReads.Run run : table.runs()) {
        tasksWithoutRowGroup(facts.application(), table, run, findings);
      }
    }
    return findings;
  }

  private static void smallFiles(TableReads table, List<Finding> findings) {
    long files = table.files();
    long good = table.runs().stream().mapToLong(FileRule::goodFiles).sum();
    if (files < FEW_FILES * table.runs().size() || files < 4 * good) {
      return;
    }
    long mean = table.fileBytes() / files;
    if (mean >= SMALL_BYTES) {
      return;
    }
    double excess = (double) (files - good) / files;
    // A footer and data, or data alone, and the HEAD.
    int trips = table.isColumnar() ? 3 : 2;
    long byTrips = (files - good) * trips * ROUND_TRIP_MILLIS;
    findings.add(
        new Finding(
            Kind.SMALL_FILES,
            Scope.TABLE,
            table.table(),
            Sizes.count(files)
                + " files of "
                + Sizes.bytes(mean)
                + " on average were read; tasks ran "
                + Sizes.seconds(table.runMillis())
                + ", of which they did not compute for "
                + Sizes.seconds(table.offProcessorMillis()),
            "write files of about 128 MiB ("
                + Sizes.count(good)
                + " in place of "
                + Sizes.count(files)
                + "): coalesce or repartition before writing, or compact the table",
            new Saving(
                Math.min(Math.round(table.offProcessorMillis() * excess), byTrips),
                Math.round(table.requests() * excess))));
  }

  private static long goodFiles(TableReads.Run run) {
    return Math.max(1, (run.fileBytes() + GOOD_BYTES - 1) / GOOD_BYTES);
  }

  /** Of a row group that is longer than a split, one task reads all and the others find nothing. */
  private static void tasksWithoutRowGroup(
      Application application, TableReads table, TableReads.Run run, List<Finding> findings) {
    Stage stage = run.stage();
    int empty = stage.tasksWithoutRows();
    boolean isFiltered = run.scan().map(scan -> !scan.filters().isEmpty()).orElse(true);
    int groups = stage.tasks() - empty;
    if (!run.isColumnar()
        || isFiltered
        || stage.tasks() < FEW_TASKS
        || groups == 0
        || empty < stage.tasks() / 2) {
      return;
    }
    long groupBytes = run.fileBytes() / groups;
    if (groupBytes <= application.splitBytes(stage)) {
      // Spark has cut the file for its slots: those are too many, not the row groups too large.
      return;
    }
    long idle = Math.min(application.slotMillis(stage), stage.wallMillis() * stage.tasks());
    findings.add(
        new Finding(
            Kind.LARGE_ROW_GROUPS,
            Scope.TABLE,
            table.table(),
            empty
                + " of "
                + stage.tasks()
                + " tasks of "
                + stage.label()
                + " found no row group in their part of a file: row groups of about "
                + Sizes.bytes(groupBytes)
                + ", tasks of "
                + Sizes.bytes(application.splitBytes(stage)),
            "write row groups no longer than spark.sql.files.maxPartitionBytes (parquet.block.size,"
                + " orc.stripe.size), or raise that to "
                + Sizes.bytes(groupBytes),
            new Saving(
                Math.max(idle - stage.runMillis(), 0) + stage.runMillisWithoutRows(), empty * 2L)));
  }
}
