// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.stages;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.client.RequestFailure;
import io.s3e.fetch.GetLedger;
import io.s3e.fetch.GetRecord;
import io.s3e.hadoop.spark.SparkTask;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.stream.S3EInputStream;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.MemoryObjectClient.Answer;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Records of GETs of an engine, summed up for one task. */
class GetSummaryTest {
  private static final int BLOCK = 64 << 10;
  private static final ObjectRef OBJECT = new ObjectRef("bucket", "a \"key\"");
  private static final String MINE = SparkTask.label(3, 17);
  private static final String OTHERS = SparkTask.label(3, 18);

  /** So many blocks by a GET each, for each of two tasks; the first GET of all fails. */
  private static List<GetRecord> gets(int ofMine, int ofOthers) throws Exception {
    MemoryObjectClient client = new MemoryObjectClient(ClientLimits.copying(BLOCK, 4, 0));
    client.put(OBJECT, MemoryObjectClient.bytes((ofMine + ofOthers) * BLOCK, 1), "\"v1\"");
    client.faults(
        (request, number) ->
            number == 1 ? Answer.GOOD.failingAfter(-1, RequestFailure.Kind.SERVER) : Answer.GOOD);
    S3EConfig config = S3EConfig.DEFAULTS.toBuilder().requestBytes(BLOCK).build();
    try (S3E engine = S3E.create(config, new MemoryBudget(64L * BLOCK), granted -> client)) {
      OpenOptions options = OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM);
      try (S3EInputStream mine = engine.open(OBJECT, options.withLabel(MINE));
          S3EInputStream others = engine.open(OBJECT, options.withLabel(OTHERS))) {
        for (int block = 0; block < ofMine + ofOthers; block++) {
          S3EInputStream in = block < ofMine ? mine : others;
          in.readFullyAt((long) block * BLOCK, new byte[9], 0, 9);
        }
      }
      GetLedger ledger = engine.gets();
      awaitTrue(
          "all have ended", () -> ledger.latest(null, 100).stream().allMatch(GetRecord::hasEnded));
      return ledger.latest(null, 100);
    }
  }

  private static TaskOfGets task(long startedMillis) {
    return new TaskOfGets(MINE, startedMillis);
  }

  @Test
  void aTaskOfTheSameNameInAnotherApplicationIsAnother() throws Exception {
    List<GetRecord> gets = gets(8, 4);
    assertThat(GetSummary.of(gets, task(System.currentTimeMillis() + 1), "7"))
        .isEqualTo(GetSummary.NONE);
  }

  @Test
  void aTaskHasItsOwnGetsAndNoOther() throws Exception {
    GetSummary summary = GetSummary.of(gets(8, 4), task(0), "7");

    GetsOfReason demand = summary.reasons().get(0);
    assertThat(summary.reasons()).hasSize(1);
    assertThat(demand.reason()).isEqualTo("DEMAND");
    assertThat(demand.gets()).as("one was sent again").isEqualTo(9);
    assertThat(demand.failed()).isEqualTo(1);
    assertThat(demand.received()).isEqualTo(8 * BLOCK);
    assertThat(demand.used()).isEqualTo(8 * BLOCK);
    assertThat(demand.unread()).isZero();
    assertThat(demand.answered()).isEqualTo(8);
    assertThat(demand.longestAnswerNanos()).isPositive().isLessThanOrEqualTo(demand.answerNanos());
  }

  @Test
  void theSlowestAreFewAndInTheirOrderWithAllThatIsKnown() throws Exception {
    GetSummary summary = GetSummary.of(gets(12, 1), task(0), "7");

    assertThat(summary.slowest()).hasSize(GetSummary.MOST_SLOW);
    assertThat(summary.slowest())
        .isSortedAccordingTo((a, b) -> Double.compare(b.millis(), a.millis()))
        .allSatisfy(
            get -> {
              assertThat(get.executorId()).isEqualTo("7");
              assertThat(get.label()).isEqualTo("stage 3, task 17");
              assertThat(get.key()).isEqualTo("a \"key\"");
              assertThat(get.end() - get.start()).isEqualTo(BLOCK);
              assertThat(get.reason()).isEqualTo("DEMAND");
            });
  }

  /** As the times of GETs that go on while their task ends. */
  @Test
  void theSlowestAreFoundThoughTheirTimesChangeMeanwhile() {
    long seed = 20_261_130;
    Random random = new Random(seed);
    Map<Integer, Long> told = new HashMap<>();
    List<Integer> slowest =
        GetSummary.slowest(
            IntStream.range(0, 10_000).boxed().toList(),
            get -> {
              long nanos = random.nextLong();
              assertThat(told.put(get, nanos)).as("asked once").isNull();
              return nanos;
            });
    assertThat(slowest)
        .as("seed %s", seed)
        .hasSize(GetSummary.MOST_SLOW)
        .isSortedAccordingTo((a, b) -> Long.compare(told.get(b), told.get(a)))
        .first()
        .satisfies(get -> assertThat(told.get(get)).isEqualTo(Collections.max(told.values())));
  }

  @Test
  void aSumHasAllReasonsAndTheSlowestOfBoth() {
    GetSummary one = summary("GROUP", 5, 1);
    GetSummary other = summary("DEMAND", 9, 2);
    GetSummary sum = one.plus(other).plus(summary("GROUP", 7, 3));

    assertThat(sum.reasons())
        .extracting(each -> each.reason() + "=" + each.received())
        .containsExactly("GROUP=12", "DEMAND=9");
    assertThat(sum.reasons().get(0).longestAnswerNanos()).isEqualTo(7);
    assertThat(sum.slowest()).extracting(SlowGet::tookMillis).containsExactly(3.0, 2.0, 1.0);
    assertThat(GetSummary.NONE.plus(one)).isEqualTo(one.plus(GetSummary.NONE)).isEqualTo(one);
    GetSummary many = GetSummary.NONE;
    for (int i = 0; i < 20; i++) {
      many = many.plus(summary("GROUP", 1, i));
    }
    assertThat(many.slowest())
        .extracting(SlowGet::tookMillis)
        .containsExactly(19.0, 18.0, 17.0, 16.0, 15.0);
  }

  private static GetSummary summary(String reason, long bytes, double tookMillis) {
    return new GetSummary(
        List.of(new GetsOfReason(reason, 1, 0, bytes, bytes, 0, 1, bytes, bytes)),
        List.of(
            new SlowGet(
                "1",
                "label",
                "now",
                "b",
                "k",
                0,
                bytes,
                reason,
                1,
                "DONE",
                1.0,
                tookMillis,
                bytes,
                null,
                null)));
  }
}
