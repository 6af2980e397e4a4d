// SPDX-License-Identifier: Apache-2.0
package io.s3e.explain;

import io.s3e.explain.Finding.Kind;
import io.s3e.explain.Finding.Scope;
import io.s3e.hadoop.cost.Advice;
import io.s3e.hadoop.cost.ReadAdvice;
import io.s3e.hadoop.cost.ReadWork;
import io.s3e.hadoop.cost.Saving;
import io.s3e.hadoop.cost.Sizes;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Slots that have nothing to read, and stages that wait for something else than S3. */
final class SlotRule implements Rule {
  /** A file that cannot be split gives one task so much more than a split. */
  private static final double MORE_THAN_A_SPLIT = 1.5;

  /** Fewer slots are no cluster to save of. */
  private static final int FEW_SLOTS = 4;

  private static final double OF_THE_APPLICATION = 0.25;

  @Override
  public List<Finding> find(Facts facts) {
    List<Finding> findings = new ArrayList<>();
    for (TableReads table : facts.tables()) {
      for (TableReads.Run run : table.runs()) {
        if (isUnsplittable(facts.application(), run)) {
          findings.add(unsplittable(facts.application(), table, run));
        } else {
          idle(facts.application(), table, run, findings);
        }
      }
    }
    notS3(facts, findings);
    return findings;
  }

  private static boolean isUnsplittable(Application application, TableReads.Run run) {
    Stage stage = run.stage();
    // A task of a coalesce reads several splits.
    return run.isText()
        && stage.mostPartitions <= stage.tasks()
        && stage.longestInputBytes() > MORE_THAN_A_SPLIT * application.splitBytes(stage);
  }

  private static Finding unsplittable(
      Application application, TableReads table, TableReads.Run run) {
    Stage stage = run.stage();
    return new Finding(
        Kind.UNSPLITTABLE_FILES,
        Scope.TABLE,
        table.table(),
        "a task of "
            + stage.label()
            + " read "
            + Sizes.bytes(stage.longestInputBytes())
            + " of text, where a task gets "
            + Sizes.bytes(application.splitBytes(stage))
            + " of a file that can be split; "
            + tasks(application, stage),
        "write the text uncompressed or as bzip2, in more files, or as Parquet: a file of gzip is"
            + " read by one task from its start to its end",
        new Saving(application.idleMillis(stage), 0));
  }

  private static String tasks(Application application, Stage stage) {
    return stage.tasks()
        + (stage.tasks() == 1 ? " task on " : " tasks on ")
        + application.slots(stage)
        + " slots for "
        + Sizes.seconds(stage.wallMillis());
  }

  private static void idle(
      Application application, TableReads table, TableReads.Run run, List<Finding> findings) {
    Stage stage = run.stage();
    // A task that finds no row group in its part has nothing to read.
    int readers = Math.max(1, stage.tasks() - stage.tasksWithoutRows());
    int slots = application.slots(stage);
    if (slots < FEW_SLOTS || readers > slots / 2 || stage.isPartial()) {
      return;
    }
    findings.add(
        new Finding(
            Kind.IDLE_SLOTS,
            Scope.STAGE,
            stage.label(),
            tasks(application, stage)
                + ", "
                + readers
                + " with rows, reading "
                + table.table()
                + (run.fileBytes() == 0 ? "" : ", " + Sizes.bytes(run.fileBytes()) + " of files"),
            "give the job fewer executors (spark.dynamicAllocation.enabled), or the table more row"
                + " groups (parquet.block.size), so that all slots have some to read",
            new Saving(application.idleMillis(stage), 0)));
  }

  private static void notS3(Facts facts, List<Finding> findings) {
    List<Stage> reading =
        facts.tables().stream()
            .flatMap(table -> table.runs().stream())
            .map(TableReads.Run::stage)
            .distinct()
            .toList();
    long all = facts.application().runMillis();
    for (Stage stage : reading) {
      if (stage.runMillis() >= OF_THE_APPLICATION * all) {
        ReadAdvice.notS3(work(facts, stage))
            .map(advice -> notS3(facts, stage, advice))
            .ifPresent(findings::add);
      }
    }
  }

  private static Finding notS3(Facts facts, Stage stage, Advice advice) {
    return new Finding(
        Kind.NOT_S3,
        Scope.STAGE,
        stage.label(),
        advice.evidence()
            + "; they computed "
            + Sizes.percent(stage.cpuMillis(), stage.runMillis())
            + " and collected garbage "
            + Sizes.percent(stage.gcMillis(), stage.runMillis())
            + "; reads "
            + tables(facts, stage),
        advice.change(),
        advice.saving());
  }

  /** With a HEAD for each file that a task opens, which S3E does not count among blocked reads. */
  private static ReadWork work(Facts facts, Stage stage) {
    long files =
        facts.tables().stream()
            .flatMap(table -> table.runs().stream())
            .filter(run -> run.stage() == stage)
            .mapToLong(TableReads.Run::files)
            .sum();
    S3eReads reads = stage.s3e();
    return new ReadWork(
        reads.gets(),
        Math.max(files, stage.tasks()),
        reads.throttled(),
        reads.bytesFromS3(),
        reads.prefetchWastedBytes(),
        stage.runMillis(),
        stage.waitedMillis());
  }

  private static String tables(Facts facts, Stage stage) {
    return facts.tables().stream()
        .filter(table -> table.runs().stream().anyMatch(run -> run.stage() == stage))
        .map(TableReads::table)
        .collect(Collectors.joining(", "));
  }
}
