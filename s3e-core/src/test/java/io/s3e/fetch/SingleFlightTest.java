// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import static io.s3e.fetch.FetchRig.BLOCK;
import static io.s3e.fetch.FetchRig.REQUEST_BLOCKS;
import static io.s3e.fetch.FetchRig.async;
import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.block.BlockId;
import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectVersion;
import io.s3e.client.ClientLimits;
import io.s3e.client.GetRequest;
import io.s3e.client.RequestFailure;
import io.s3e.memory.Block;
import io.s3e.memory.Counts;
import io.s3e.memory.Grant;
import io.s3e.memory.Purpose;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.prefetch.RequestSizing;
import io.s3e.testing.Seed;
import io.s3e.testing.Threads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * However many want a block, it is fetched once; and nobody suffers for another's change of mind.
 */
class SingleFlightTest {

  @Test
  void sixteenReadersOfOneAbsentBlockSendOneGet() throws Exception {
    try (FetchRig rig = FetchRig.copying(8)) {
      CountDownLatch gate = rig.client.holdAnswers();
      AtomicInteger arrived = new AtomicInteger();
      Threads.run(
          16,
          0,
          (thread, random) -> {
            if (arrived.incrementAndGet() == 16) {
              gate.countDown();
            }
            rig.requireRight(rig.read(rig.open(), 5), 5);
          });
      assertThat(rig.client.gets()).hasSize(1);
    }
  }

  /** Its blocks are in the index by then: who comes to one would wait for its time-out. */
  @Test
  void aRunThatCannotBeToldOfEndsAtOnce() throws Exception {
    try (FetchRig rig = FetchRig.copying(8)) {
      ObjectHandle handle = rig.open();
      assertThatThrownBy(
              () ->
                  rig.fetcher.prefetch(
                      handle,
                      new BlockRange(0, 3),
                      Purpose.GUESS,
                      run -> {
                        throw new OutOfMemoryError("as if");
                      }))
          .isInstanceOf(OutOfMemoryError.class);
      assertThat(Counts.blocks(rig.index)).isZero();
      assertThat(rig.pool.leased()).isZero();
      rig.requireRight(rig.read(handle, 1), 1);
      assertThat(rig.client.gets()).as("of the read alone").hasSize(1);
    }
  }

  @Test
  void overlappingReadsAndPrefetchesFetchEachByteOnce() throws Exception {
    long seed = Seed.draw();
    int blocks = 256;
    ClientLimits limits = ClientLimits.copying(REQUEST_BLOCKS * BLOCK, 64, 0);
    // On a machine with all processors busy a GET may be silent for long, and is then sent again.
    try (FetchRig rig = new FetchRig(blocks, blocks * 2, limits, 20_000)) {
      Threads.run(
          8,
          seed,
          (thread, random) -> {
            ObjectHandle handle = rig.open();
            for (int i = 0; i < 400; i++) {
              long block = random.nextInt(blocks);
              long end = Math.min(blocks, block + random.nextInt(1, 10));
              if (random.nextInt(3) == 0) {
                rig.fetcher.prefetch(handle, new BlockRange(block, end), Purpose.GUESS, run -> {});
              } else {
                rig.requireRight(rig.read(handle, block, end, run -> {}), block);
              }
            }
          });
      String about = "seed " + seed + ", retries: " + rig.metrics.get(Counter.RETRIES);
      assertThat(fetchedOnce(rig.client.gets(), about)).as(about).hasSize(blocks);
    }
  }

  /**
   * The blocks of all GETs, each of which may be in one of them only. But for islands: a block that
   * comes by another GET between the look at the index and the entry of a run around it is fetched
   * over, as far as {@link RequestSizing#mostIslands} allows for the run, of which the GET may
   * bring a part only.
   */
  private static Set<Long> fetchedOnce(List<GetRequest> gets, String about) {
    Set<Long> fetched = new HashSet<>();
    for (GetRequest get : gets) {
      long first = get.range().start() / BLOCK;
      long last = (get.range().end() - 1) / BLOCK;
      int over = 0;
      for (long block = first; block <= last; block++) {
        boolean isNew = fetched.add(block);
        assertThat(isNew || (block > first && block < last))
            .as("block %d of %s, %s", block, get.range(), about)
            .isTrue();
        over += isNew ? 0 : 1;
      }
      assertThat((long) over)
          .as("%d blocks again in %s, %s", over, get.range(), about)
          .isLessThanOrEqualTo(RequestSizing.mostIslands(REQUEST_BLOCKS));
    }
    return fetched;
  }

  /** A run is resolved before it waits for memory; its handle may have a new name afterwards. */
  @Test
  void whatIsUnderWayWhenTheEtagBecomesKnownIsNotFetchedAgain() throws Exception {
    try (FetchRig rig = FetchRig.copying(8)) {
      CountDownLatch gate = new CountDownLatch(1);
      rig.client.script(
          (call, number) -> {
            call.head();
            gate.await();
            call.body();
            call.done();
          });
      ObjectHandle handle = rig.openWithoutEtag();
      rig.fetcher.opened(handle);
      Grant grant = rig.grant(handle, 1);
      rig.fetcher.prefetch(handle, new BlockRange(0, 2), Purpose.ASKED, run -> {});
      awaitTrue(() -> handle.proof != null);
      assertThat(handle.name()).isNotEqualTo(handle.version);
      assertThat(rig.run(handle, grant, new HashSet<>(), new BlockRange(1, 2))).isNull();
      gate.countDown();
      rig.requireRight(rig.read(handle, 1), 1);
      assertThat(rig.client.gets()).hasSize(1);
    }
  }

  /** As when another thread enters it after a reader's look, and before the reader's demand. */
  @Test
  void aBlockThatHasBeenEnteredSinceTheLookIsJoined() throws Exception {
    try (FetchRig rig = FetchRig.copying(8)) {
      CountDownLatch gate = rig.client.holdAnswers();
      ObjectHandle handle = rig.open();
      rig.fetcher.prefetch(handle, new BlockRange(3, 4), Purpose.GUESS, run -> {});
      Patience patience = new Patience(Duration.ofSeconds(30));
      List<RunFetch> runs = new ArrayList<>();
      Block joined = rig.fetcher.demand(handle, new BlockRange(3, 5), 3, 5, patience, runs::add);
      assertThat(joined).isNotNull();
      joined.unpin();
      assertThat(runs).isEmpty();
      assertThat(handle.apart).isNull();
      gate.countDown();
      rig.requireRight(rig.read(handle, 3), 3);
      assertThat(rig.client.gets()).hasSize(1);
    }
  }

  /** One who once could not read what others had fetched joins what is fetched for all since. */
  @Test
  void aHandleThatHasHeldApartFetchesNothingBesideWhatItSees() throws Exception {
    try (FetchRig rig = FetchRig.copying(8)) {
      ObjectHandle handle = rig.open();
      rig.requireRight(rig.read(handle, 5), 5);
      handle.holdApart(new Object());
      CountDownLatch gate = rig.client.holdAnswers();
      Grant grant = rig.grant(handle, 1);
      rig.fetcher.prefetch(handle, new BlockRange(0, 1), Purpose.GUESS, run -> {});
      assertThat(rig.run(handle, grant, new HashSet<>(), new BlockRange(0, 1))).isNull();
      gate.countDown();
      rig.requireRight(rig.read(handle, 0), 0);
      assertThat(rig.client.gets()).hasSize(2);
    }
  }

  /**
   * A handle that holds blocks apart, and whose proof has run out, does not see a block that is
   * there. It is fetched over all the same: once there is an answer the reader takes the one that
   * it knows, and nobody would come to read another one of the handle's own.
   */
  @Test
  void whatIsThereIsNotEnteredApartForWantOfAProof() throws Exception {
    try (FetchRig rig = FetchRig.copying(8)) {
      ObjectHandle handle = rig.open();
      rig.requireRight(rig.read(handle, 2), 2);
      handle.holdApart(new Object());
      rig.aheadNanos.set(Proofs.LONGEST_LIFE.toNanos());
      Grant grant = rig.grant(handle, 5);
      RunFetch run = rig.run(handle, grant, new HashSet<>(), new BlockRange(0, 5));
      assertThat(run.blocks()).hasSize(5);
      run.send();
      awaitTrue(run::isOver);
      assertThat(rig.index.get(new BlockId(handle.apart, 2))).isNull();
      for (int block = 0; block < 5; block++) {
        rig.requireRight(rig.read(handle, block), block);
      }
      assertThat(rig.client.gets()).hasSize(2);
      assertThat(run.isSpent()).isTrue();
    }
  }

  @Test
  void aJoinedFetchSurvivesTheStreamThatStartedIt() throws Exception {
    try (FetchRig rig = FetchRig.copying(8)) {
      CountDownLatch gate = rig.client.holdAnswers();
      List<RunFetch> runs = new ArrayList<>();
      ObjectHandle starter = rig.open();
      rig.fetcher.prefetch(starter, new BlockRange(2, 4), Purpose.GUESS, runs::add);
      CompletableFuture<byte[]> joiner = async(() -> rig.read(rig.open(), 3));
      awaitTrue(() -> Origin.of(runs.get(0).blocks().get(0)).interested.get() == 2);
      starter.close();
      runs.get(0).abandon();
      gate.countDown();
      rig.requireRight(joiner.get(20, TimeUnit.SECONDS), 3);
      assertThat(rig.client.gets()).hasSize(1);
      assertThat(rig.client.calls().get(0).isCancelled()).isFalse();
    }
  }

  /** Else its memory would wait for a reader until the stream is closed. */
  @Test
  void whatIsPassedOverWhileItComesIsLetGoWhenItHasCome() throws Exception {
    try (FetchRig rig = FetchRig.copying(8)) {
      CountDownLatch gate = rig.client.holdAnswers();
      List<RunFetch> runs = new ArrayList<>();
      ObjectHandle handle = rig.open();
      rig.fetcher.prefetch(handle, new BlockRange(0, 4), Purpose.GUESS, runs::add);
      runs.get(0).abandon(new ByteRange(BLOCK, 2 * BLOCK));
      gate.countDown();
      for (int block : new int[] {0, 2, 3}) {
        rig.requireRight(rig.read(handle, block), block);
      }
      awaitTrue(runs.get(0)::isSpent);
      assertThat(rig.client.gets()).hasSize(1);
    }
  }

  @Test
  void theLastOneToLeaveCancelsAndALatecomerFetchesAnew() throws Exception {
    try (FetchRig rig = FetchRig.copying(8)) {
      rig.client.script(
          (call, number) -> {
            if (number == 0) {
              call.head();
              call.data(0, 100);
              call.awaitCancel(20_000);
              call.fail(RequestFailure.Kind.CANCELLED);
            } else {
              call.answerWell();
            }
          });
      List<RunFetch> runs = new ArrayList<>();
      rig.fetcher.prefetch(rig.open(), new BlockRange(0, 2), Purpose.GUESS, runs::add);
      awaitTrue(() -> rig.client.calls().size() == 1);
      runs.get(0).abandon();
      awaitTrue(() -> rig.client.calls().get(0).isCancelled());
      awaitTrue(() -> rig.pool.leased() == 0);
      rig.requireRight(rig.read(rig.open(), 1), 1);
      assertThat(rig.client.gets()).hasSize(2);
    }
  }

  @Test
  void aFailedPrefetchIsSilentAndTheReaderAsksAgain() throws Exception {
    try (FetchRig rig = FetchRig.copying(8)) {
      rig.client.script(
          (call, number) -> {
            if (number == 0) {
              call.fail(RequestFailure.Kind.FORBIDDEN);
            } else {
              call.answerWell();
            }
          });
      rig.fetcher.prefetch(rig.open(), new BlockRange(0, REQUEST_BLOCKS), Purpose.GUESS, run -> {});
      awaitTrue(() -> rig.pool.leased() == 0 && !rig.client.calls().isEmpty());
      rig.requireRight(rig.read(rig.open(), 0), 0);
      assertThat(rig.client.gets()).hasSize(2);
      assertThat(rig.metrics.get(Counter.RETRIES)).isZero();
    }
  }

  @Test
  void allReadersOfAFailedFetchGetItsErrorAndTheNextOneTriesAgain() throws Exception {
    try (FetchRig rig = FetchRig.copying(8)) {
      CountDownLatch gate = new CountDownLatch(1);
      rig.client.script(
          (call, number) -> {
            gate.await();
            if (number == 0) {
              call.fail(RequestFailure.Kind.FORBIDDEN);
            } else {
              call.answerWell();
            }
          });
      List<RunFetch> runs = new CopyOnWriteArrayList<>();
      List<CompletableFuture<byte[]>> readers = new ArrayList<>();
      for (int i = 0; i < 6; i++) {
        readers.add(async(() -> rig.read(rig.open(), 0, 1, runs::add)));
      }
      awaitTrue(
          () -> runs.size() == 1 && Origin.of(runs.get(0).blocks().get(0)).interested.get() == 7);
      gate.countDown();
      for (CompletableFuture<byte[]> reader : readers) {
        assertThatThrownBy(() -> reader.get(20, TimeUnit.SECONDS))
            .hasMessageContaining("scripted FORBIDDEN");
      }
      rig.requireRight(rig.read(rig.open(), 0), 0);
      assertThat(rig.client.gets()).hasSize(2);
    }
  }

  @Test
  void aRetryGoesOnWhereTheBytesEnded() throws Exception {
    try (FetchRig rig = FetchRig.copying(8)) {
      int broken = BLOCK + 300;
      rig.client.script(
          (call, number) -> {
            call.head();
            if (number == 0) {
              call.data(0, 17);
              call.data(17, broken);
              call.fail(RequestFailure.Kind.NETWORK);
            } else {
              call.data(0, call.length());
              call.done();
            }
          });
      ObjectHandle handle = rig.open();
      for (long block = 0; block < REQUEST_BLOCKS; block++) {
        rig.requireRight(rig.read(handle, block, REQUEST_BLOCKS, run -> {}), block);
      }
      assertThat(rig.client.gets()).hasSize(2);
      assertThat(rig.client.gets().get(1).range().start()).isEqualTo(broken);
      assertThat(rig.client.gets().get(1).range().end()).isEqualTo(REQUEST_BLOCKS * BLOCK);
    }
  }

  @Test
  void theReaderGetsAnErrorThatWillNotPass() throws Exception {
    try (FetchRig rig = FetchRig.copying(8)) {
      rig.client.script((call, number) -> call.fail(RequestFailure.Kind.NOT_FOUND));
      assertThatThrownBy(() -> rig.read(rig.open(), 0)).hasMessageContaining("scripted NOT_FOUND");
      assertThat(rig.client.gets()).hasSize(1);
      assertThat(rig.pool.leased()).isZero();
    }
  }

  /** All are equal, but that none can be compared where it is to fail. */
  private record Holder(AtomicBoolean fails) {
    @Override
    public boolean equals(Object other) {
      if (fails.get()) {
        throw new OutOfMemoryError("as if");
      }
      return other instanceof Holder;
    }

    @Override
    public int hashCode() {
      return 1;
    }
  }

  /** As where the heap is full in the middle: here nobody can say whether the third is there. */
  @Test
  void aRunThatFailsToEnterAllLeavesNoneAndGivesItsGrantBack() throws Exception {
    try (FetchRig rig = FetchRig.copying(64)) {
      AtomicBoolean fails = new AtomicBoolean();
      ObjectVersion version = rig.open().version;
      rig.requireRight(rig.read(rig.open(version.heldFor(new Holder(fails))), 2), 2);
      ObjectHandle handle = rig.open(version.heldFor(new Holder(fails)));
      long held = rig.account.heldBytes();
      Grant grant = rig.grant(handle, 32);
      fails.set(true);
      assertThatThrownBy(() -> rig.run(handle, grant, new HashSet<>(), new BlockRange(0, 32)))
          .isInstanceOf(OutOfMemoryError.class);
      assertThat(rig.account.heldBytes()).isEqualTo(held);
      assertThat(Counts.blocks(rig.index)).isOne();
      rig.requireRight(rig.read(handle, 0), 0);
    }
  }
}
