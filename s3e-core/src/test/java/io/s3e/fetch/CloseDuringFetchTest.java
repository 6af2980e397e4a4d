// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import static io.s3e.fetch.FetchRig.BLOCK;
import static io.s3e.fetch.FetchRig.REQUEST_BLOCKS;
import static io.s3e.fetch.FetchRig.async;
import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.block.BlockRange;
import io.s3e.client.ClientLimits;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.memory.Block;
import io.s3e.memory.Counts;
import io.s3e.memory.Purpose;
import io.s3e.testing.Pause;
import io.s3e.testing.Seed;
import io.s3e.testing.Slow;
import io.s3e.testing.Threads;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Closing a stream or the engine at every moment of a fetch: readers return, memory comes home
 * once, and a client that goes on calling writes to nothing that is somebody else's.
 */
class CloseDuringFetchTest {

  @Test
  void aClosedStreamsReaderStopsAndAnotherStreamsReaderDoesNot() throws Exception {
    try (FetchRig rig = FetchRig.copying(8)) {
      CountDownLatch gate = rig.client.holdAnswers();
      List<RunFetch> runs = new ArrayList<>();
      ObjectHandle closing = rig.open();
      CompletableFuture<byte[]> first = async(() -> rig.read(closing, 0, 2, runs::add));
      awaitTrue(
          () ->
              rig.client.calls().size() == 1
                  && Origin.of(runs.get(0).blocks().get(0)).interested.get() == 2);
      CompletableFuture<byte[]> second = async(() -> rig.read(rig.open(), 1));
      awaitTrue(() -> Origin.of(runs.get(0).blocks().get(0)).interested.get() == 3);
      closing.close();
      runs.get(0).abandon();
      assertThatThrownBy(() -> first.get(10, TimeUnit.SECONDS))
          .hasMessageContaining("Stream is closed!");
      gate.countDown();
      rig.requireRight(second.get(20, TimeUnit.SECONDS), 1);
      assertThat(rig.client.gets()).hasSize(1);
    }
  }

  @Test
  void aReaderThatWaitsForMemoryStopsWhenItsStreamIsClosed() throws Exception {
    try (FetchRig rig = new FetchRig(8, 1, ClientLimits.copying(BLOCK, 1, 0), 20_000)) {
      CountDownLatch gate = rig.client.holdAnswers();
      CompletableFuture<byte[]> holder = async(() -> rig.read(rig.open(), 0));
      awaitTrue(() -> rig.client.calls().size() == 1);
      ObjectHandle closing = rig.open();
      CompletableFuture<byte[]> waiting = async(() -> rig.read(closing, 5));
      awaitTrue("it waits for memory", () -> Counts.waiting(rig.account) == 1);
      assertThat(waiting).isNotDone();
      closing.close();
      assertThatThrownBy(() -> waiting.get(10, TimeUnit.SECONDS))
          .hasMessageContaining("Stream is closed!");
      gate.countDown();
      rig.requireRight(holder.get(20, TimeUnit.SECONDS), 0);
    }
  }

  /** As a client of somebody else's may, or one that finds no thread for what its cancel takes. */
  @Test
  void aCancelThatThrowsKeepsNoOtherRunFromItsEnd() throws Exception {
    try (FetchRig rig = FetchRig.copying(16)) {
      CountDownLatch gate = rig.client.holdAnswers();
      rig.client.whenCancelled =
          () -> {
            throw new IllegalStateException("as if");
          };
      List<RunFetch> runs = new ArrayList<>();
      rig.fetcher.prefetch(rig.open(), new BlockRange(0, 12), Purpose.GUESS, runs::add);
      assertThat(runs).hasSizeGreaterThan(1);
      rig.fetcher.close();
      assertThat(runs).allMatch(RunFetch::isOver);
      gate.countDown();
    }
  }

  /** As a vectored read whose stream is told to unbuffer. */
  @Test
  void aReaderThatWaitsForMemoryStopsWhenItsReadIsOver() throws Exception {
    try (FetchRig rig = new FetchRig(8, 1, ClientLimits.copying(BLOCK, 1, 0), 20_000)) {
      CountDownLatch gate = rig.client.holdAnswers();
      CompletableFuture<byte[]> holder = async(() -> rig.read(rig.open(), 0));
      awaitTrue(() -> rig.client.calls().size() == 1);
      Patience patience = new Patience(Duration.ofMinutes(5));
      ObjectHandle handle = rig.open();
      CompletableFuture<Block> waiting =
          async(() -> rig.fetcher.demand(handle, new BlockRange(5, 6), 5, 6, patience, run -> {}));
      awaitTrue("it waits for memory", () -> Counts.waiting(rig.account) == 1);
      patience.end();
      assertThatThrownBy(() -> waiting.get(10, TimeUnit.SECONDS))
          .hasCauseInstanceOf(IOException.class);
      gate.countDown();
      rig.requireRight(holder.get(20, TimeUnit.SECONDS), 0);
    }
  }

  @Test
  void closingTheEngineReleasesAllReadersWhileAClientCallIsInside() throws Exception {
    try (FetchRig rig = FetchRig.copying(8)) {
      rig.client.script(
          (call, number) -> {
            call.head();
            call.data(0, 10);
            call.awaitCancel(20_000);
            call.data(10, call.length());
            call.done();
          });
      List<CompletableFuture<byte[]>> readers = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        long block = i;
        readers.add(async(() -> rig.read(rig.open(), block)));
      }
      awaitTrue(() -> rig.client.calls().size() == 8);
      rig.fetcher.close();
      for (CompletableFuture<byte[]> reader : readers) {
        assertThatThrownBy(() -> reader.get(10, TimeUnit.SECONDS))
            .hasCauseInstanceOf(IOException.class)
            .hasMessageContaining("closed");
      }
      assertThat(rig.pool.leased()).isZero();
      assertThatThrownBy(() -> rig.read(rig.open(), 0)).hasMessageContaining("closed");
    }
  }

  /**
   * Streams come and go while their fetches start, deliver, fail, pause and try again. The pool is
   * so small that a buffer given back too early is at once somebody else's: its bytes would be
   * wrong.
   */
  @ParameterizedTest
  @ValueSource(ints = {3, 64})
  @Slow
  void streamsAreClosedAtEveryMoment(int memoryBlocks) throws Exception {
    long seed = Seed.draw();
    ClientLimits limits = ClientLimits.copying(REQUEST_BLOCKS * BLOCK, 16, 0);
    try (FetchRig rig = new FetchRig(32, memoryBlocks, limits, 20_000)) {
      rig.client.script((call, number) -> slowly(call, new SplittableRandom(seed ^ number)));
      Threads.run(
          8,
          seed,
          (thread, random) -> {
            for (int i = 0; i < 250; i++) {
              openReadClose(rig, random);
            }
          });
    }
  }

  @Slow
  @Test
  void theEngineIsClosedAtEveryMoment() throws Exception {
    long seed = Seed.draw();
    SplittableRandom root = new SplittableRandom(seed);
    ClientLimits limits = new ClientLimits(BLOCK, 8, 0, REQUEST_BLOCKS * BLOCK, 4, 0);
    for (int round = 0; round < 150; round++) {
      try (FetchRig rig = new FetchRig(32, 8, limits, 20_000)) {
        long roundSeed = root.nextLong();
        rig.client.script((call, number) -> slowly(call, new SplittableRandom(roundSeed ^ number)));
        Threads.run(
            4,
            roundSeed,
            (thread, random) -> {
              if (thread == 0) {
                Pause.nanos(random.nextInt(1_500_000), "a moment by chance");
                rig.fetcher.close();
                return;
              }
              for (int i = 0; i < 8; i++) {
                openReadClose(rig, random);
              }
            });
      }
    }
  }

  private static void openReadClose(FetchRig rig, SplittableRandom random)
      throws InterruptedException {
    ObjectHandle handle = rig.open();
    List<RunFetch> runs = new ArrayList<>();
    long block = random.nextInt(32);
    long end = Math.min(32, block + random.nextInt(1, 6));
    rig.fetcher.prefetch(
        handle,
        new BlockRange(block, end),
        random.nextBoolean() ? Purpose.ASKED : Purpose.GUESS,
        runs::add);
    if (random.nextInt(3) == 0) {
      Pause.nanos(random.nextInt(300_000), "a moment by chance");
    } else {
      try {
        rig.requireRight(rig.read(handle, block, end, runs::add), block);
      } catch (IOException e) {
        assertThat(e).hasMessageNotContaining("deadline");
      }
    }
    handle.close();
    runs.forEach(RunFetch::abandon);
  }

  /** In small pieces, heedless of cancels half of the time, and failing in between. */
  private static void slowly(ScriptedClient.Call call, SplittableRandom random) throws IOException {
    boolean deaf = random.nextBoolean();
    int failAt = random.nextInt(3) == 0 ? random.nextInt(call.length()) : Integer.MAX_VALUE;
    call.head();
    if (call.request.lend()) {
      Pause.nanos(random.nextInt(200_000), "a store that is slow");
      call.lend(call.length());
      call.done();
      return;
    }
    for (int at = 0; at < call.length(); ) {
      if (at >= failAt) {
        call.fail(Kind.NETWORK);
        return;
      }
      if (call.isCancelled() && !deaf) {
        call.fail(Kind.CANCELLED);
        return;
      }
      int next = Math.min(call.length(), at + random.nextInt(1, 400));
      call.data(at, next);
      at = next;
      if (random.nextInt(4) == 0) {
        Pause.nanos(random.nextInt(50_000), "a store that is slow");
      }
    }
    call.done();
  }
}
