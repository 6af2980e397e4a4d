// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.stages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.hadoop.cost.Prices;
import java.util.List;
import org.junit.jupiter.api.Test;

class S3EReadsModelTest {
  private static SparkListenerS3EStage event(int stage, String executor, long bytes) {
    ReadCounts counts =
        new ReadCounts(1, 10, bytes, 0, 0, bytes, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    return new SparkListenerS3EStage(
        new StageReads(
            new StageAttempt(stage, 0),
            List.of(new ExecutorReads(executor, "host", counts)),
            new GetSummary(
                List.of(new GetsOfReason("DEMAND", 1, 0, bytes, bytes, 0, 1, bytes, bytes)),
                List.of())),
        Prices.LIST);
  }

  @Test
  void aStageIsTheSumOfItsEvents() {
    S3EReadsModel model = new S3EReadsModel(10);
    model.add(event(1, "a", 100));
    model.add(event(2, "a", 20));
    model.add(event(1, "a", 3));
    model.add(event(1, "b", 4));

    assertThat(model.stages())
        .extracting(stage -> stage.stage().stageId() + "=" + stage.total().bytesRead())
        .containsExactly("2=20", "1=107");
    assertThat(model.executors())
        .extracting(each -> each.executorId() + "=" + each.counts().bytesRead())
        .containsExactly("a=123", "b=4");
    assertThat(model.total().tasks()).isEqualTo(4);
    assertThat(model.stages().get(1).gets().reasons())
        .containsExactly(new GetsOfReason("DEMAND", 3, 0, 107, 107, 0, 3, 107, 100));
  }

  @Test
  void stagesBeyondTheLimitStayInTheSums() {
    S3EReadsModel model = new S3EReadsModel(2);
    for (int stage = 0; stage < 5; stage++) {
      model.add(event(stage, "a", 10));
    }
    assertThat(model.stages()).extracting(stage -> stage.stage().stageId()).containsExactly(4, 3);
    assertThat(model.total().bytesRead()).isEqualTo(50);

    S3EReadsModel again = new S3EReadsModel(2);
    assertThat(model.events()).as("do not grow with the application").hasSize(3);
    model.events().forEach(again::add);
    assertThat(again.stages()).isEqualTo(model.stages());
    assertThat(again.executors()).isEqualTo(model.executors());
    assertThat(again.total()).isEqualTo(model.total());
    for (S3EReadsModel each : List.of(model, again)) {
      GetSummary gets =
          each.stages().stream().map(StageReads::gets).reduce(each.otherGets(), GetSummary::plus);
      assertThat(gets.reasons())
          .extracting(GetsOfReason::gets)
          .as("of all stages")
          .containsExactly(5L);
    }
    assertThatThrownBy(() -> new S3EReadsModel(0)).hasMessageContaining("at least 1");
  }

  @Test
  void whatComesLateOfAStageThatIsGoneBringsItNotBack() {
    S3EReadsModel model = new S3EReadsModel(2);
    for (int stage = 0; stage < 5; stage++) {
      model.add(event(stage, "a", 10));
    }
    ReadCounts late = new ReadCounts(0, 0, 7, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    for (int stage : new int[] {0, 4}) {
      model.add(
          new SparkListenerS3EStage(
              new StageReads(
                  new StageAttempt(stage, 0),
                  List.of(new ExecutorReads("a", "host", late)),
                  GetSummary.NONE),
              Prices.LIST));
    }
    assertThat(model.stages())
        .extracting(stage -> stage.stage().stageId() + "=" + stage.total().bytesRead())
        .containsExactly("4=17", "3=10");
    assertThat(model.total().bytesRead()).isEqualTo(64);
    assertThat(model.executors().get(0).counts().bytesRead()).isEqualTo(64);
  }

  @Test
  void executorsThatComeAndGoAddUpAndDoNotGrow() {
    S3EReadsModel model = new S3EReadsModel(2);
    for (int executor = 1; executor <= 2_500; executor++) {
      model.add(event(executor, Integer.toString(executor), 10));
      model.add(event(executor, "1", 1));
    }
    List<ExecutorReads> executors = model.executors();
    assertThat(executors).as("1,000 and the others").hasSize(1_001);
    assertThat(executors.get(0).executorId()).isEqualTo("1");
    assertThat(executors.get(0).counts().bytesRead()).as("it works to this day").isEqualTo(2_510);
    assertThat(executors.get(1).executorId()).isEqualTo("1502");
    assertThat(executors)
        .filteredOn(each -> each.executorId().equals(S3EReadsModel.OTHER_EXECUTORS))
        .singleElement()
        .satisfies(others -> assertThat(others.counts().tasks()).isEqualTo(1_500));
    assertThat(executors.stream().mapToLong(each -> each.counts().bytesRead()).sum())
        .isEqualTo(model.total().bytesRead())
        .isEqualTo(27_500);
    assertThat(model.events()).allMatch(each -> each.executors().size() <= 1_001);
  }

  /** A driver and a History Server keep it for each application that they show. */
  @Test
  void stagesOnManyExecutorsAreOneSumEach() {
    S3EReadsModel model = new S3EReadsModel(100);
    for (int stage = 0; stage < 100; stage++) {
      for (int executor = 0; executor < 50; executor++) {
        model.add(event(stage, Integer.toString(executor), 10));
      }
    }
    assertThat(model.stages()).hasSize(100).allMatch(each -> each.total().bytesRead() == 500);
    assertThat(model.events().stream().mapToInt(each -> each.executors().size()).sum())
        .as("one for each stage, and one for each executor")
        .isEqualTo(150);
    S3EReadsModel again = new S3EReadsModel(100);
    model.events().forEach(again::add);
    assertThat(again.executors()).isEqualTo(model.executors()).hasSize(50);
    assertThat(again.stages()).isEqualTo(model.stages());
    assertThat(again.total()).isEqualTo(model.total());
  }
}
