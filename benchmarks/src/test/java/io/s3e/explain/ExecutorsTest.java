// SPDX-License-Identifier: Apache-2.0
package io.s3e.explain;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Slots of executors that come and go. */
class ExecutorsTest {
  @TempDir Path directory;

  @Test
  void executorsThatCameOneAfterTheOtherAreNoIdleSlots() throws Exception {
    SyntheticLog log = new SyntheticLog();
    for (int i = 0; i < 10; i++) {
      long from = 1_000_000 + i * 10_000L;
      log.executorAdded("" + i, 4, from);
      log.query(i, "s3a://bucket/table-" + i, 4, from, from + 10_000);
      log.executorRemoved("" + i, from + 10_000);
    }
    Explanation explanation = log.explain(directory);
    Application application = explanation.application();
    assertThat(application.slots()).isEqualTo(4);
    assertThat(application.runMillis()).isEqualTo(400_000);
    assertThat(application.slotMillis()).isEqualTo(400_000);
    assertThat(explanation.tables()).hasSize(10);
    assertThat(explanation.findings()).extracting(Finding::kind).isEmpty();
    assertThat(ExplanationText.text(explanation)).contains(" 4 slots,");
  }

  @Test
  void whatIsThereAndHasNothingToReadIsIdle() throws Exception {
    SyntheticLog log = new SyntheticLog();
    for (int i = 0; i < 4; i++) {
      log.executorAdded("" + i, 4, 0);
    }
    log.executorRemoved("3", 5_000);
    log.query(0, "s3a://bucket/table", 2, 0, 10_000);
    Explanation explanation = log.explain(directory);
    assertThat(explanation.application().slots()).isEqualTo(16);
    assertThat(explanation.application().slotMillis()).isEqualTo(140_000);
    assertThat(explanation.findings())
        .filteredOn(finding -> finding.kind() == Finding.Kind.IDLE_SLOTS)
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(finding.evidence()).startsWith("2 tasks on 14 slots for 10");
              assertThat(finding.saving().slotMillis()).isEqualTo(120_000);
            });
  }

  @Test
  void slotsThatAnotherStageHasAreNotIdle() throws Exception {
    SyntheticLog log = new SyntheticLog();
    log.executorAdded("0", 8, 0);
    log.query(1, "s3a://bucket/dimension", 1, 0, 60_000);
    log.query(2, "s3a://bucket/facts", 7, 0, 60_000);

    assertThat(log.explain(directory).findings())
        .extracting(Finding::kind)
        .doesNotContain(Finding.Kind.IDLE_SLOTS);
  }

  /** As {@code show()} has it: the plan tells of all files, and a task reads the first. */
  @Test
  void aStageOfSomePartitionsReadsAsMuchLess() throws Exception {
    SyntheticLog log = new SyntheticLog();
    log.executorAdded("0", 8, 0);
    log.query(1, "s3a://bucket/table", 1, 0, 60_000);
    log.stage(1, 4, 4);
    Explanation explanation = log.explain(directory);

    assertThat(explanation.tables())
        .singleElement()
        .satisfies(table -> assertThat(table.fileBytes()).isEqualTo((1L << 26) / 4));
    assertThat(explanation.findings())
        .extracting(Finding::kind)
        .doesNotContain(Finding.Kind.IDLE_SLOTS);
  }

  @Test
  void queriesOfFilesOfTheirOwnReadNothingAgain() throws Exception {
    for (String index : List.of("TahoeBatchFileIndex", "TahoeLogFileIndex")) {
      SyntheticLog log = new SyntheticLog();
      for (int i = 1; i <= 3; i++) {
        log.executorAdded("" + i, 4, i * 60_000L);
        log.query(i, index, "s3a://bucket/table", 4, i * 60_000L, i * 60_000L + 60_000);
        log.executorRemoved("" + i, i * 60_000L + 60_000);
      }
      List<String> read =
          log.explain(directory).application().scans().stream()
              .map(TableScan::whatIsRead)
              .distinct()
              .toList();
      assertThat(read).hasSize(index.equals("TahoeBatchFileIndex") ? 3 : 1);
    }
  }

  @Test
  void slotsAreOfEachExecutorInItsTime() {
    Executors executors = new Executors();
    assertThat(executors.isEmpty()).isTrue();
    executors.added("1", 4, 100);
    executors.added("2", 3, 150);
    executors.removed("1", 200);
    executors.removed("nobody", 200);
    executors.added("3", 8, 200);
    assertThat(executors.isEmpty()).isFalse();
    assertThat(executors.mostSlots(1)).as("the second and the third").isEqualTo(11);
    assertThat(executors.mostSlots(2)).as("a core of the second is for nothing").isEqualTo(5);
    assertThat(executors.mostSlotsOfOne(2)).isEqualTo(4);
    assertThat(executors.slotMillis(0, 100, 1)).isZero();
    assertThat(executors.slotMillis(0, 160, 1)).isEqualTo(60 * 4 + 10 * 3);
    assertThat(executors.slotMillis(190, 210, 1)).isEqualTo(10 * 4 + 20 * 3 + 10 * 8);
    assertThat(executors.slotMillis(210, 190, 1)).isZero();
  }
}
