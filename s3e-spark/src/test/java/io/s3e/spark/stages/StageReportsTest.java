// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.stages;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.hadoop.cost.Prices;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

class StageReportsTest {
  private static final Duration NEVER = Duration.ofHours(1);
  private static final StageAttempt STAGE = new StageAttempt(7, 1);

  private final List<SparkListenerS3EStage> posted = new CopyOnWriteArrayList<>();

  private static TaskReads read(StageAttempt stage, String executor, long tasks, long bytes) {
    return new TaskReads(
        stage,
        executor,
        "host-" + executor,
        new ReadCounts(tasks, 10, bytes, 0, 0, bytes, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 3),
        new GetSummary(
            List.of(new GetsOfReason("DEMAND", 1, 0, bytes, bytes, 0, 1, 5, 5)), List.of()));
  }

  private long bytes() {
    return posted.stream().mapToLong(event -> event.reads().total().bytesRead()).sum();
  }

  @Test
  void oneEventHasTheSumOfAllTasksByExecutor() {
    try (StageReports reports = new StageReports(Prices.LIST, posted::add, NEVER)) {
      reports.add(read(STAGE, "1", 1, 100));
      reports.taskEnded(STAGE);
      reports.add(read(STAGE, "2", 1, 20));
      reports.taskEnded(STAGE);
      reports.add(read(STAGE, "1", 1, 3));
      reports.taskEnded(STAGE);
      assertThat(posted).isEmpty();
      reports.stageCompleted(STAGE);

      assertThat(posted).hasSize(1);
      StageReads reads = posted.get(0).reads();
      assertThat(reads.stage()).isEqualTo(STAGE);
      assertThat(reads.total().tasks()).isEqualTo(3);
      assertThat(reads.executors())
          .extracting(
              each -> each.executorId() + "@" + each.host() + "=" + each.counts().bytesRead())
          .containsExactly("1@host-1=103", "2@host-2=20");
      assertThat(reads.gets().reasons())
          .containsExactly(new GetsOfReason("DEMAND", 3, 0, 123, 123, 0, 3, 15, 5));
    }
  }

  @Test
  void aReportThatIsStillUnderWayIsAwaited() {
    try (StageReports reports = new StageReports(Prices.LIST, posted::add, NEVER)) {
      reports.add(read(STAGE, "1", 1, 100));
      reports.taskEnded(STAGE);
      reports.taskEnded(STAGE);
      reports.stageCompleted(STAGE);
      assertThat(posted).isEmpty();
      reports.add(read(STAGE, "2", 1, 20));
      assertThat(posted).hasSize(1);
      assertThat(bytes()).isEqualTo(120);
    }
  }

  @Test
  void aReportThatNeverComesIsNotAwaitedForever() throws Exception {
    try (StageReports reports = new StageReports(Prices.LIST, posted::add, Duration.ofMillis(50))) {
      reports.add(read(STAGE, "1", 1, 100));
      reports.taskEnded(STAGE);
      reports.taskEnded(STAGE);
      reports.stageCompleted(STAGE);
      awaitEvents(1);
      assertThat(bytes()).isEqualTo(100);
    }
  }

  @Test
  void aLateReportIsInAnEventOfItsOwn() throws Exception {
    try (StageReports reports = new StageReports(Prices.LIST, posted::add, Duration.ofMillis(50))) {
      reports.add(read(STAGE, "1", 1, 100));
      reports.taskEnded(STAGE);
      reports.stageCompleted(STAGE);
      assertThat(bytes()).isEqualTo(100);
      reports.add(read(STAGE, "1", 0, 5));
      awaitEvents(2);
      assertThat(posted.get(1).reads().stage()).isEqualTo(STAGE);
      assertThat(bytes()).isEqualTo(105);
    }
  }

  /** As a speculative copy that was killed before it read. */
  @Test
  void aLateTaskThatReadNothingIsCountedWhereItsStageHasRead() throws Exception {
    TaskReads killed =
        new TaskReads(STAGE, "2", "host-2", ReadCounts.ofTask(10, 5), GetSummary.NONE);
    try (StageReports reports = new StageReports(Prices.LIST, posted::add, Duration.ofMillis(50))) {
      reports.add(read(STAGE, "1", 1, 100));
      reports.taskEnded(STAGE);
      reports.stageCompleted(STAGE);
      assertThat(posted).hasSize(1);
      reports.add(killed);
      awaitEvents(2);
      assertThat(posted.get(1).reads().total()).isEqualTo(killed.counts());
      assertThat(bytes()).isEqualTo(100);
    }
  }

  /** Its reports came, and were posted, before it ended. */
  @Test
  void anEndWithoutReportsIsNoEventOfAStageThatHasOne() {
    try (StageReports reports = new StageReports(Prices.LIST, posted::add, NEVER)) {
      reports.add(read(STAGE, "1", 1, 100));
      reports.stageCompleted(STAGE);
      reports.stageCompleted(STAGE);
    }
    assertThat(posted).hasSize(1);
  }

  /** As in a query of streaming that runs for weeks. */
  @Test
  void aLateReportOfAStageThatIsLongForgottenIsPostedAllTheSame() throws Exception {
    try (StageReports reports = new StageReports(Prices.LIST, posted::add, Duration.ofMillis(50))) {
      for (int id = 0; id < 10_002; id++) {
        reports.stageCompleted(new StageAttempt(1_000 + id, 0));
      }
      reports.add(read(new StageAttempt(1_000, 0), "1", 0, 5));
      awaitEvents(1);
      assertThat(bytes()).isEqualTo(5);
    }
  }

  /** Spark drops events of a busy driver, and nobody hears of the ends of these stages. */
  @Test
  void stagesWhoseEndNobodyTellsDoNotPileUp() {
    int stages = 2 * StageReports.MOST_OPEN;
    try (StageReports reports = new StageReports(Prices.LIST, posted::add, NEVER)) {
      for (int id = 0; id < stages; id++) {
        reports.add(read(new StageAttempt(id, 0), "1", 1, 100));
      }
      assertThat(posted).hasSize(stages - StageReports.MOST_OPEN);
      reports.add(read(new StageAttempt(0, 0), "1", 1, 7));
    }
    assertThat(bytes()).isEqualTo(100L * stages + 7);
  }

  @Test
  void aStageThatReadsNothingByS3EHasNoEvent() {
    try (StageReports reports = new StageReports(Prices.LIST, posted::add, NEVER)) {
      reports.add(new TaskReads(STAGE, "1", "host", ReadCounts.ofTask(10, 5), GetSummary.NONE));
      reports.taskEnded(STAGE);
      reports.stageCompleted(STAGE);
    }
    assertThat(posted).isEmpty();
  }

  @Test
  void theEndOfTheApplicationPostsWhatIsThereAndWhatComesLaterIsDropped() {
    StageReports reports = new StageReports(Prices.LIST, posted::add, NEVER);
    reports.add(read(STAGE, "1", 1, 100));
    reports.close();
    assertThat(bytes()).isEqualTo(100);
    reports.add(read(STAGE, "1", 1, 20));
    assertThat(bytes()).isEqualTo(100);
    assertThat(reports.droppedReports()).isEqualTo(1);
  }

  /** Reports, ends of tasks and ends of stages in any order: every task is in one event. */
  @Test
  void whatIsOfferedIsPosted() {
    long seed = 20_261_122;
    Random random = new Random(seed);
    for (int round = 0; round < 200; round++) {
      posted.clear();
      long offered = 0;
      try (StageReports reports = new StageReports(Prices.LIST, posted::add, NEVER)) {
        for (int step = 0; step < 40; step++) {
          StageAttempt stage = new StageAttempt(random.nextInt(3), random.nextInt(2));
          switch (random.nextInt(4)) {
            case 0 -> reports.stageCompleted(stage);
            case 1 -> reports.taskEnded(stage);
            default -> {
              reports.add(read(stage, "" + random.nextInt(2), 1, step));
              offered += step;
            }
          }
        }
      }
      assertThat(bytes()).as("round %s of seed %s", round, seed).isEqualTo(offered);
    }
  }

  private void awaitEvents(int count) throws InterruptedException {
    awaitTrue(count + " events", Duration.ofSeconds(60), () -> posted.size() >= count);
  }
}
