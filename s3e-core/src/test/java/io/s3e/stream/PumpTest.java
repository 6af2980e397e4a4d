// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import static io.s3e.stream.EngineFixture.BLOCK;
import static io.s3e.stream.EngineFixture.REQUEST;
import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.OpenOptions;
import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.prefetch.Ahead.Change;
import io.s3e.prefetch.Ahead.Starting;
import io.s3e.prefetch.GuessJudge;
import io.s3e.prefetch.GuessKind;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.prefetch.Wish.Cut;
import io.s3e.prefetch.Wish.Range;
import io.s3e.prefetch.Wish.Start;
import io.s3e.testing.MemoryObjectClient.Answer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a stream's pump sends for its wish, and does not send twice. */
@Timeout(60)
class PumpTest {
  private static final OpenOptions FORWARD = OpenOptions.DEFAULTS.withPolicy(ReadPolicy.SEQUENTIAL);

  @RegisterExtension final EngineFixture s3e = EngineFixture.copying();

  private void awaitIdle() throws InterruptedException {
    awaitTrue("all GETs have ended", () -> s3e.client.active() == 0);
  }

  /** A reader that waits sends for some milliseconds only, which a JVM that is cold may need. */
  private void lookAgain(S3EInputStream in) throws InterruptedException {
    Pump pump = in.reader.pump;
    pump.start(pump.onMiss(ReadStep.MOVE), null);
    awaitIdle();
  }

  @Test
  void lookingAgainSendsNothing() throws Exception {
    s3e.put(400);
    try (S3EInputStream in = s3e.open(FORWARD)) {
      in.readFully(new byte[BLOCK], 0, BLOCK);
      lookAgain(in);
      int before = s3e.client.gets().size();
      assertThat(before).isGreaterThan(1);
      Pump pump = in.reader.pump;
      for (int i = 0; i < 3; i++) {
        Change change = pump.onMiss(ReadStep.MOVE);
        assertThat(change).isEqualTo(Change.NONE);
        pump.start(change, null);
      }
      assertThat(s3e.client.gets()).hasSize(before);
    }
  }

  @Test
  void whatNobodyHasStartedIsFoundByTheNextLook() throws Exception {
    s3e.put(400);
    try (S3EInputStream in = s3e.open(FORWARD)) {
      Pump pump = in.reader.pump;
      Change first = pump.onRead(0, BLOCK, ReadStep.MOVE, true);
      assertThat(first.starting()).isNotEmpty();
      Change second = pump.onMiss(ReadStep.MOVE);
      assertThat(second.starting()).hasSameSizeAs(first.starting());
      pump.start(second, null);
      awaitIdle();
      assertThat(s3e.client.gets()).hasSameSizeAs(first.starting());
    }
  }

  @Test
  void aGuessThatFailedIsSentAgainBeforeTheReaderComesToIt() throws Exception {
    s3e.put(400);
    s3e.client.faults(
        (request, number) -> number == 3 ? Answer.GOOD.failingAfter(-1, Kind.SERVER) : Answer.GOOD);
    try (S3EInputStream in = s3e.open(FORWARD)) {
      in.readFully(new byte[BLOCK], 0, BLOCK);
      lookAgain(in);
      ByteRange failed = s3e.client.gets().get(3).range();
      assertThat(failed.start()).isGreaterThan(2L * BLOCK);
      in.readFully(new byte[BLOCK], 0, BLOCK);
      // The engine hears of the failure after the GET has ended.
      awaitTrue(
          "it is sent again",
          () -> {
            lookAgain(in);
            return s3e.client.gets().stream().filter(get -> get.range().equals(failed)).count() > 1;
          });
      lookAgain(in);
      assertThat(s3e.client.gets()).filteredOn(get -> get.range().equals(failed)).hasSize(2);
    }
  }

  /** All guesses fail at once; the reader reads on within what it has asked for itself. */
  @Test
  void aStoreThatRefusesEveryGuessIsNotAskedWithoutEnd() throws Exception {
    s3e.put(400);
    s3e.client.faults(
        (request, number) ->
            request.range().start() == 0 ? Answer.GOOD : Answer.GOOD.failingAfter(-1, Kind.SERVER));
    try (S3EInputStream in = s3e.open(FORWARD)) {
      in.readFully(new byte[BLOCK], 0, BLOCK);
      Pump pump = in.reader.pump;
      for (int i = 0; i < 100; i++) {
        awaitIdle();
        pump.start(pump.onMiss(ReadStep.MOVE), null);
      }
      awaitIdle();
      long blocks = s3e.client.gets().stream().mapToLong(get -> get.range().length() / BLOCK).sum();
      assertThat(blocks).isLessThanOrEqualTo(2L * s3eWindow() + 2);
    }
  }

  private static long s3eWindow() {
    return 8L * REQUEST / BLOCK;
  }

  /** Another thread reads elsewhere between a look and its GETs. */
  @Test
  void whatIsWishedForNoMoreWhenItIsSentIsGivenUp() throws Exception {
    s3e.put(400);
    s3e.client.faults((request, number) -> Answer.GOOD.silentAfter(0));
    try (S3EInputStream in = s3e.open(FORWARD)) {
      Pump pump = in.reader.pump;
      Change seen = pump.onRead(0, BLOCK, ReadStep.MOVE, true);
      in.unbuffer();
      pump.start(seen, null);
      assertThat(s3e.client.gets()).isNotEmpty();
      awaitIdle();
    }
  }

  /** The same for guesses that are of use together only. */
  @Test
  void aGroupThatIsWishedForNoMoreWhenItIsSentIsGivenUp() throws Exception {
    s3e.put(400);
    s3e.client.faults((request, number) -> Answer.GOOD.silentAfter(0));
    try (S3EInputStream in = s3e.open(FORWARD)) {
      List<Starting> group = List.of(ofOneGroup(100), ofOneGroup(200));
      long before = s3e.engine.memoryBytes();
      in.reader.pump.start(new Change(group, List.of()), null);
      assertThat(s3e.client.gets()).hasSize(2);
      assertThat(s3e.engine.memoryBytes()).as("long before the GETs stall").isEqualTo(before);
      awaitIdle();
    }
  }

  private static Starting ofOneGroup(long first) {
    BlockRange blocks = new BlockRange(first, first + 2);
    GuessJudge nobody = (kind, used, wasted) -> {};
    return new Starting(blocks, new Range(blocks, GuessKind.GROUP, nobody, Start.NOW, Cut.NONE, 1));
  }

  @Test
  void jumpsCancelWhatTheirReaderLeavesBehind() throws Exception {
    s3e.put(900);
    s3e.client.faults((request, number) -> number == 0 ? Answer.GOOD : Answer.GOOD.silentAfter(0));
    try (S3EInputStream in = s3e.open(FORWARD)) {
      in.readFully(new byte[BLOCK], 0, BLOCK);
      assertThat(s3e.client.active()).isPositive();
      s3e.client.faults((request, number) -> Answer.GOOD);
      // From the third on it counts as random, which wants nothing ahead.
      for (long block : new long[] {400, 600, 800}) {
        in.seek(block * BLOCK);
        in.readFully(new byte[BLOCK], 0, BLOCK);
      }
      awaitIdle();
      assertThat(s3e.engine.metrics().get(Counter.PREFETCH_USED_BYTES)).isZero();
    }
  }
}
