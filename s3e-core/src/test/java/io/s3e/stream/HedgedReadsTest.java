// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import static io.s3e.stream.EngineFixture.BLOCK;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ByteRange;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.client.ForwardingClient;
import io.s3e.client.GetRequest;
import io.s3e.client.ObjectClient;
import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.client.ResponseHandler;
import io.s3e.client.ResponseHead;
import io.s3e.client.ResponseHead.LengthSource;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.metrics.StreamListener;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.testing.Eventually;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.MemoryObjectClient.Answer;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Reads whose GET is late, or never answered: a second one brings the bytes. */
@Timeout(60)
@Slow
@Tag("waits")
class HedgedReadsTest {
  private static final OpenOptions RANDOM = OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM);
  private static final int BLOCKS = 300;
  private static final int PIECE = EngineFixture.REQUEST / BLOCK;

  /** GETs that the engine has to have seen before it knows what is late. */
  private static final int KNOWN = 100;

  @RegisterExtension final EngineFixture s3e = EngineFixture.copying();

  @RegisterExtension final EngineFixture lending = EngineFixture.lending();

  @RegisterExtension
  final EngineFixture patient =
      EngineFixture.copying(
          config -> config.stallTimeout(Duration.ofMinutes(5)).readTimeout(Duration.ofMinutes(5)));

  private final ExecutorService threads = Executors.newFixedThreadPool(32);

  @AfterEach
  void endThreads() {
    threads.shutdownNow();
  }

  @Test
  void hangingGetIsOvertaken() throws Exception {
    byte[] content = s3e.put(BLOCKS);
    try (S3EInputStream in = s3e.open(RANDOM)) {
      readBlocks(in, content, 0, KNOWN);
      Counts before = new Counts(s3e);
      hang(s3e, before.sent());

      readBlocks(in, content, KNOWN, KNOWN + 1);

      assertThat(before.since(Counter.HEDGES)).isEqualTo(1);
      assertThat(before.since(Counter.HEDGES_WON)).isEqualTo(1);
      assertThat(before.since(Counter.RETRIES)).isZero();
      assertThat(before.since(Counter.GETS)).isEqualTo(2);
      assertThat(before.gets()).hasSize(2);
    }
  }

  /**
   * What S3 needs is expected before a store is known, and two hedges need not be earned. The read
   * would end by the stall time-out alone, after the test's.
   */
  @ParameterizedTest
  @ValueSource(ints = {0, 9, 59})
  void hangingGetOfANewEngineIsOvertaken(int goodOnes) throws Exception {
    byte[] content = patient.put(BLOCKS);
    try (S3EInputStream in = patient.open(RANDOM)) {
      readBlocks(in, content, 0, goodOnes);
      Counts before = new Counts(patient);
      hang(patient, before.sent());

      readBlocks(in, content, goodOnes, goodOnes + 1);

      assertThat(before.since(Counter.HEDGES_WON)).isEqualTo(1);
      assertThat(before.since(Counter.RETRIES)).isZero();
      assertThat(before.gets()).hasSize(2);
    }
  }

  /** A slot is not hedged: its GET is given up by what is expected of its length. */
  @Test
  void firstLentGetThatHangsIsSentAgain() throws Exception {
    byte[] content = lending.put(6 * PIECE);
    try (S3EInputStream in = lending.open(RANDOM)) {
      readRange(in, content, 0, 1);
      int sent = lending.client.gets().size();
      hang(lending, sent);

      readRange(in, content, 3 * PIECE, PIECE);

      assertThat(lending.client.gets().get(sent).lend()).isTrue();
      assertThat(lending.engine.metrics().get(Counter.RETRIES)).isEqualTo(1);
      assertThat(lending.client.gets()).hasSize(sent + 2);
    }
  }

  /** Another tenant of the engine knows what the first has learnt, also of other lengths. */
  @Test
  void whatOneTenantHasLearntAnotherKnows() throws Exception {
    MemoryBudget budget = new MemoryBudget(1024L * BLOCK);
    S3EConfig config =
        S3EConfig.DEFAULTS.toBuilder().blockBytes(BLOCK).store("https://store").build();
    MemoryObjectClient client = new MemoryObjectClient(ClientLimits.copying(8 * BLOCK, 32, 0));
    byte[] content = MemoryObjectClient.bytes(BLOCKS * BLOCK, 42);
    client.put(EngineFixture.OBJECT, content, EngineFixture.ETAG);
    client.faults((request, number) -> Answer.GOOD.after(700));
    try (S3E first = S3E.create(config, budget, granted -> client);
        S3E second = S3E.create(config, budget, granted -> client);
        S3EInputStream one = first.open(EngineFixture.OBJECT, RANDOM);
        S3EInputStream other = second.open(EngineFixture.OBJECT, RANDOM)) {
      List<CompletableFuture<Void>> reads = new ArrayList<>();
      for (int i = 0; i < KNOWN; i++) {
        int block = i;
        reads.add(CompletableFuture.runAsync(() -> readBlock(one, content, block), threads));
      }
      reads.forEach(CompletableFuture::join);
      long sent = client.gets().size();

      readRange(other, content, KNOWN + 1, 2);

      assertThat(second.metrics().get(Counter.HEDGES)).as("700 ms are usual here").isZero();
      assertThat(client.gets()).hasSize((int) sent + 1);
    }
  }

  private static void readBlock(S3EInputStream in, byte[] content, int block) {
    try {
      readRange(in, content, block, 1);
    } catch (Exception e) {
      throw new CompletionException(e);
    }
  }

  /** A body that has begun may hang as well: what landed of it stays, the hedge brings the rest. */
  @Test
  void hedgeBringsTheRestOfABodyThatHangs() throws Exception {
    byte[] content = s3e.put(BLOCKS);
    try (S3EInputStream in = s3e.open(RANDOM)) {
      readBlocks(in, content, 0, KNOWN);
      Counts before = new Counts(s3e);
      s3e.client.faults(
          (request, number) ->
              number == before.sent() ? Answer.GOOD.silentAfter(BLOCK + BLOCK / 2) : Answer.GOOD);

      readRange(in, content, KNOWN, 2);

      assertThat(before.since(Counter.HEDGES_WON)).isEqualTo(1);
      List<GetRequest> gets = before.gets();
      assertThat(gets.get(1).range()).isEqualTo(gets.get(0).range());
      assertThat(gets).hasSize(2);
    }
  }

  /** The bytes of both GETs may be there before either of them has ended. */
  @Test
  void hedgeThatComesAfterTheBytesHasNothingToBring() throws Exception {
    byte[] content = s3e.put(BLOCKS);
    try (S3EInputStream in = s3e.open(RANDOM)) {
      readBlocks(in, content, 0, KNOWN);
      Counts before = new Counts(s3e);
      s3e.client.faults(
          (request, number) ->
              switch (number - before.sent()) {
                case 0 -> Answer.GOOD.after(500).silentAfter(BLOCK);
                case 1 -> Answer.GOOD.after(500);
                default -> Answer.GOOD;
              });

      readBlocks(in, content, KNOWN, KNOWN + 1);

      assertThat(before.since(Counter.HEDGES)).isEqualTo(1);
      Eventually.awaitTrue(
          "the second GET's memory is free",
          () -> s3e.engine.memoryBytes() == (KNOWN + 1L) * BLOCK);
      assertThat(before.since(Counter.HEDGES_WON)).isZero();
      assertThat(before.gets()).hasSize(2);
    }
  }

  /** The third GET is late, and ends by itself just when the fourth, its hedge, has come. */
  private static final class Raced implements ForwardingClient, StreamListener {
    private final MemoryObjectClient store =
        new MemoryObjectClient(ClientLimits.copying(EngineFixture.REQUEST, 32, 0));
    private final byte[] content = MemoryObjectClient.bytes(EngineFixture.REQUEST, 42);
    private final List<ByteRange> gets = new CopyOnWriteArrayList<>();
    private volatile @Nullable ResponseHandler late;

    Raced() {
      store.put(EngineFixture.OBJECT, content, EngineFixture.ETAG);
      store.faults((request, number) -> number < 2 ? Answer.GOOD : Answer.GOOD.after(100));
    }

    @Override
    public ObjectClient client() {
      return store;
    }

    @Override
    public Exchange get(GetRequest request, ResponseHandler handler) {
      gets.add(request.range());
      int number = gets.size() - 1;
      if (number != 3 && number > 1) {
        return store.get(request, handler);
      }
      handler.onSent();
      if (number == 3) {
        late = handler;
      } else {
        String why = "cut off";
        handler.onFailure(new RequestFailure(Kind.NETWORK, "GET", why, new IOException(why)));
      }
      return () -> {};
    }

    /** Told before the run hears of that end. */
    @Override
    public void onGetFinished(long offset, long received, long nanos, @Nullable Exception failure) {
      ResponseHandler first = late;
      late = null;
      if (first != null) {
        int length = (int) gets.get(3).length();
        String range = "bytes " + offset + "-" + (offset + length - 1) + "/" + content.length;
        try {
          first.onHead(
              new ResponseHead(
                  206,
                  range,
                  length,
                  EngineFixture.ETAG,
                  null,
                  null,
                  null,
                  LengthSource.STORE,
                  null));
          first.onData(ByteBuffer.wrap(content, (int) offset, length));
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
        first.onDone();
      }
    }
  }

  @Test
  void hedgeThatCameWithTheFirstGetLeavesTheNextPartAlone() throws Exception {
    Raced raced = new Raced();
    S3EConfig config =
        S3EConfig.DEFAULTS.toBuilder().blockBytes(BLOCK).retryBase(Duration.ofMillis(1)).build();
    try (S3E engine = S3E.create(config, new MemoryBudget(1024L * BLOCK), granted -> raced);
        S3EInputStream in = engine.open(EngineFixture.OBJECT, RANDOM.withListener(raced))) {
      readRange(in, raced.content, 0, PIECE);

      assertThat(engine.metrics().get(Counter.HEDGES)).isEqualTo(1);
      assertThat(engine.metrics().get(Counter.HEDGES_WON)).isZero();
    }
    assertThat(raced.gets.stream().map(range -> range.start() / BLOCK + "-" + range.end() / BLOCK))
        .containsExactly("0-8", "0-4", "0-2", "2-4", "2-4", "4-6", "6-8");
  }

  @Test
  void hedgeThatFailsLeavesTheFirstGetAlone() throws Exception {
    byte[] content = s3e.put(BLOCKS);
    try (S3EInputStream in = s3e.open(RANDOM)) {
      readBlocks(in, content, 0, KNOWN);
      Counts before = new Counts(s3e);
      s3e.client.faults(
          (request, number) ->
              switch (number - before.sent()) {
                case 0 -> Answer.GOOD.after(500);
                case 1 -> Answer.GOOD.failingAfter(-1, Kind.SERVER);
                default -> Answer.GOOD;
              });

      readBlocks(in, content, KNOWN, KNOWN + 1);

      assertThat(before.since(Counter.HEDGES)).isEqualTo(1);
      assertThat(before.since(Counter.HEDGES_WON)).isZero();
      assertThat(before.gets()).hasSize(2);
    }
  }

  /** A whole answer wins, and one that ends elsewhere is none. */
  @Test
  void hedgeThatEndsShortLeavesTheFirstGetAlone() throws Exception {
    byte[] content = s3e.put(BLOCKS);
    try (S3EInputStream in = s3e.open(RANDOM)) {
      readBlocks(in, content, 0, KNOWN);
      Counts before = new Counts(s3e);
      s3e.client.faults(
          (request, number) ->
              switch (number - before.sent()) {
                case 0 -> Answer.GOOD.after(500);
                case 1 -> Answer.GOOD.shortAfter(10);
                default -> Answer.GOOD;
              });

      readBlocks(in, content, KNOWN, KNOWN + 1);

      assertThat(before.since(Counter.HEDGES)).isEqualTo(1);
      assertThat(before.since(Counter.HEDGES_WON)).isZero();
      assertThat(before.since(Counter.DISCARDED_BYTES)).isEqualTo(10);
      assertThat(before.gets()).hasSize(2);
    }
  }

  @Test
  void hedgesAreFewHoweverManyGetsAreLate() throws Exception {
    byte[] content = s3e.put(BLOCKS);
    try (S3EInputStream in = s3e.open(RANDOM)) {
      readBlocks(in, content, 0, KNOWN);
      Counts before = new Counts(s3e);
      s3e.client.faults((request, number) -> Answer.GOOD.after(300));

      readBlocks(in, content, KNOWN, KNOWN + 20);

      // Two from the start, and two that 100 GETs have earned.
      assertThat(before.since(Counter.HEDGES)).isBetween(1L, 4L);
      assertThat(before.gets()).hasSize(20 + (int) before.since(Counter.HEDGES));
    }
  }

  /** Its GETs may hang for ever: then hedges would only take the places of others. */
  @Test
  void rangeThatHangsAgainIsHedgedOnce() throws Exception {
    byte[] content = s3e.put(BLOCKS);
    try (S3EInputStream in = s3e.open(RANDOM)) {
      readBlocks(in, content, 0, KNOWN);
      Counts before = new Counts(s3e);
      s3e.client.faults(
          (request, number) ->
              number < before.sent() + 3 ? Answer.GOOD.silentAfter(0) : Answer.GOOD);

      readBlocks(in, content, KNOWN, KNOWN + 1);

      assertThat(before.since(Counter.HEDGES)).isEqualTo(1);
      assertThat(before.since(Counter.RETRIES)).isEqualTo(2);
      assertThat(before.gets()).hasSize(4);
    }
  }

  @Test
  void throttledStoreIsNotAskedTwice() throws Exception {
    byte[] content = s3e.put(BLOCKS);
    try (S3EInputStream in = s3e.open(RANDOM)) {
      readBlocks(in, content, 0, KNOWN);
      Counts before = new Counts(s3e);
      s3e.client.faults(
          (request, number) ->
              switch (number - before.sent()) {
                case 0 -> Answer.GOOD.failingAfter(-1, Kind.THROTTLED);
                case 1 -> Answer.GOOD.after(500);
                default -> Answer.GOOD;
              });

      readBlocks(in, content, KNOWN, KNOWN + 1);

      assertThat(before.since(Counter.HEDGES)).isZero();
      assertThat(before.gets()).hasSize(2);
    }
  }

  @Test
  void failedGetEndsItsHedge() throws Exception {
    byte[] content = s3e.put(BLOCKS);
    try (S3EInputStream in = s3e.open(RANDOM)) {
      readBlocks(in, content, 0, KNOWN);
      Counts before = new Counts(s3e);
      s3e.client.faults(
          (request, number) ->
              switch (number - before.sent()) {
                case 0 -> Answer.GOOD.after(550).failingAfter(10, Kind.NETWORK);
                case 1 -> Answer.GOOD.silentAfter(0);
                default -> Answer.GOOD;
              });

      readBlocks(in, content, KNOWN, KNOWN + 1);

      assertThat(before.since(Counter.HEDGES)).isEqualTo(1);
      assertThat(before.since(Counter.RETRIES)).isEqualTo(1);
    }
  }

  /** A slot holds one GET: a lent one that hangs is given up after its measured time. */
  @Test
  void lentGetThatHangsIsSentAgain() throws Exception {
    byte[] content = lending.put(KNOWN * PIECE + PIECE);
    try (S3EInputStream in = lending.open(RANDOM)) {
      for (int i = 0; i < KNOWN; i++) {
        readRange(in, content, i * PIECE, PIECE);
      }
      int sent = lending.client.gets().size();
      hang(lending, sent);

      readRange(in, content, KNOWN * PIECE, PIECE);

      assertThat(lending.client.gets().get(sent).lend()).isTrue();
      assertThat(lending.engine.metrics().get(Counter.HEDGES)).isZero();
      assertThat(lending.engine.metrics().get(Counter.RETRIES)).isEqualTo(1);
      assertThat(lending.client.gets()).hasSize(sent + 2);
    }
  }

  /** Counts of an engine at some moment: a busy machine may have made it hedge before. */
  private record Counts(EngineFixture fixture, int sent, Map<Counter, Long> counters) {
    Counts(EngineFixture fixture) {
      this(fixture, fixture.client.gets().size(), new EnumMap<>(Counter.class));
      for (Counter counter : Counter.values()) {
        counters.put(counter, fixture.engine.metrics().get(counter));
      }
    }

    long since(Counter counter) {
      return fixture.engine.metrics().get(counter) - counters.get(counter);
    }

    List<GetRequest> gets() {
      List<GetRequest> all = fixture.client.gets();
      return all.subList(sent, all.size());
    }
  }

  private static void hang(EngineFixture fixture, int number) {
    fixture.client.faults(
        (request, sent) -> sent == number ? Answer.GOOD.silentAfter(0) : Answer.GOOD);
  }

  private static void readBlocks(S3EInputStream in, byte[] content, int first, int end)
      throws Exception {
    for (int block = first; block < end; block++) {
      readRange(in, content, block, 1);
    }
  }

  private static void readRange(S3EInputStream in, byte[] content, int first, int count)
      throws Exception {
    byte[] read = new byte[count * BLOCK];
    in.readFullyAt((long) first * BLOCK, read, 0, read.length);
    assertThat(read).isEqualTo(Arrays.copyOfRange(content, first * BLOCK, (first + count) * BLOCK));
  }
}
