// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import static io.s3e.fetch.FetchRig.BLOCK;
import static io.s3e.fetch.FetchRig.REQUEST_BLOCKS;
import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.client.ClientLimits;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.client.ResponseHead.LengthSource;
import io.s3e.memory.Block;
import io.s3e.memory.Grant;
import io.s3e.memory.Need;
import io.s3e.memory.Purpose;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.metrics.StreamListener;
import io.s3e.testing.Pause;
import io.s3e.testing.Seed;
import io.s3e.testing.Slow;
import io.s3e.testing.Threads;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Clients that do everything wrong: whatever they do, a reader gets the right bytes or an
 * IOException, every buffer comes home once, and the client sees no exception but a refusal.
 */
@Tag("waits")
class HostileClientTest {
  /** The second GET of a run and later ones are answered well, unless a test says otherwise. */
  enum Vice {
    ONE_BYTE_AT_A_TIME {
      @Override
      void answer(ScriptedClient.Call call) throws IOException {
        call.head();
        for (int i = 0; i < call.length() && !call.request.lend(); i++) {
          call.data(i, i + 1);
        }
        if (call.request.lend()) {
          call.body();
        }
        call.done();
      }
    },
    EMPTY_CHUNKS {
      @Override
      void answer(ScriptedClient.Call call) throws IOException {
        call.head();
        if (!call.request.lend()) {
          call.data(0, 0);
        }
        call.body();
        if (!call.request.lend()) {
          call.data(0, 0);
        }
        call.done();
      }
    },
    SHORT {
      @Override
      void answer(ScriptedClient.Call call) throws IOException {
        call.head();
        if (call.request.lend()) {
          call.lend(call.length() - 1);
        } else {
          call.data(0, call.length() - 1);
        }
        call.done();
      }
    },
    LONG {
      @Override
      void answer(ScriptedClient.Call call) throws IOException {
        call.head();
        call.data(0, call.length() / 2);
        call.data(call.length() / 2, call.length() + 1);
        call.done();
      }
    },
    GARBAGE_BEHIND_THE_END {
      @Override
      void answer(ScriptedClient.Call call) throws IOException {
        call.head();
        call.body();
        call.garbage(BLOCK);
        call.done();
      }
    },
    /** Somebody else's body, whose end nobody has told. */
    SHORT_GARBAGE {
      @Override
      void answer(ScriptedClient.Call call) throws IOException {
        call.head(LengthSource.NOBODY);
        call.garbage(call.length() / 2);
        call.garbage((call.length() - 1) / 2);
        call.done();
      }
    },
    /** As many bytes as asked for, and then more. */
    LONG_GARBAGE {
      @Override
      void answer(ScriptedClient.Call call) throws IOException {
        call.head(LengthSource.NOBODY);
        call.garbage(call.length());
        insist(() -> call.garbage(1));
        call.fail(Kind.REJECTED);
      }
    },
    GARBAGE_THAT_BREAKS_OFF {
      @Override
      void answer(ScriptedClient.Call call) throws IOException {
        call.head(LengthSource.NOBODY);
        call.garbage(call.length());
        call.fail(Kind.NETWORK);
      }
    },
    /** Under a length that the client has made up. */
    SHORT_GARBAGE_AT_ONCE {
      @Override
      void answer(ScriptedClient.Call call) throws IOException {
        call.head(LengthSource.CLIENT);
        call.garbage(call.length() - 1);
        call.done();
      }
    },
    NO_BODY {
      @Override
      void answer(ScriptedClient.Call call) throws IOException {
        call.head();
        call.done();
      }
    },
    NOTHING_BUT_DONE {
      @Override
      void answer(ScriptedClient.Call call) {
        call.done();
      }
    },
    BODY_BEFORE_HEAD {
      @Override
      void answer(ScriptedClient.Call call) throws IOException {
        call.body();
        call.head();
        call.done();
      }
    },
    WHOLE_OBJECT {
      @Override
      void answer(ScriptedClient.Call call) throws IOException {
        call.head(200, null, ScriptedClient.ETAG);
        call.body();
        call.done();
      }
    },
    OTHER_RANGE {
      @Override
      void answer(ScriptedClient.Call call) throws IOException {
        long start = call.request.range().start() + 1;
        call.head(206, "bytes " + start + "-" + start + "/1000000", ScriptedClient.ETAG);
        call.garbage(call.length());
        call.done();
      }
    },
    DEAF_TO_REFUSALS {
      @Override
      void answer(ScriptedClient.Call call) throws IOException {
        insist(() -> call.head(500, null, null));
        insist(() -> call.garbage(call.length()));
        insist(() -> call.data(0, call.length()));
        call.done();
      }
    },
    DONE_TWICE {
      @Override
      void answer(ScriptedClient.Call call) throws IOException {
        call.answerWell();
        call.done();
        call.fail(Kind.NETWORK);
      }
    },
    FAILS_THEN_GOES_ON {
      @Override
      void answer(ScriptedClient.Call call) throws IOException {
        call.head();
        call.fail(Kind.NETWORK);
        insist(() -> call.garbage(call.length()));
        insist(call::body);
        call.done();
        call.fail(Kind.FORBIDDEN);
      }
    },
    LENDS_TWICE {
      @Override
      void answer(ScriptedClient.Call call) throws IOException {
        call.head();
        call.lend(call.length());
        insist(() -> call.lend(call.length()));
        call.done();
      }
    },
    TERMINAL_FROM_TWO_THREADS {
      @Override
      void answer(ScriptedClient.Call call) throws Exception {
        call.head();
        call.body();
        Thread other = new Thread(() -> call.fail(Kind.NETWORK));
        other.start();
        call.done();
        other.join();
      }
    },
    GARBAGE_WHILE_THE_BODY_COMES {
      @Override
      void answer(ScriptedClient.Call call) throws Exception {
        call.head();
        call.fail(Kind.SERVER);
        for (int i = 0; i < 50; i++) {
          insist(() -> call.garbage(100));
          Pause.of(Duration.ofNanos(200_000), "while the body comes");
        }
      }
    };

    abstract void answer(ScriptedClient.Call call) throws Exception;
  }

  private interface Step {
    void run() throws IOException;
  }

  /** Goes on as if the refusal had not been heard. */
  private static void insist(Step step) {
    try {
      step.run();
    } catch (IOException e) {
      assertThat(e).isNotNull();
    }
  }

  @ParameterizedTest
  @EnumSource
  void theFirstAnswerIsBadAndTheReaderDoesNotNotice(Vice vice) throws Exception {
    for (ClientLimits limits : List.of(copying(), lending())) {
      try (FetchRig rig = new FetchRig(8, 16, limits, 2_000)) {
        rig.client.script(
            (call, number) -> {
              if (number == 0) {
                vice.answer(call);
              } else {
                call.answerWell();
              }
            });
        ObjectHandle handle = rig.open();
        for (long block = 0; block < 8; block++) {
          rig.requireRight(rig.read(handle, block, 8, run -> {}), block);
        }
      }
    }
  }

  @Test
  void anAttemptThatWasGivenUpForItsSilenceCannotWriteAnyMore() throws Exception {
    try (FetchRig rig = new FetchRig(8, 16, copying(), 300)) {
      CountDownLatch read = new CountDownLatch(1);
      Queue<IOException> refusals = new ConcurrentLinkedQueue<>();
      rig.client.script(
          (call, number) -> {
            if (number > 0) {
              call.answerWell();
              return;
            }
            call.head();
            call.data(0, 100);
            call.awaitCancel(20_000);
            read.await();
            try {
              call.garbage(call.length() - 100);
            } catch (IOException e) {
              refusals.add(e);
            }
            call.done();
          });
      ObjectHandle handle = rig.open();
      rig.requireRight(rig.read(handle, 0, REQUEST_BLOCKS, run -> {}), 0);
      read.countDown();
      awaitTrue(() -> refusals.size() == 1);
      for (long block = 0; block < REQUEST_BLOCKS; block++) {
        rig.requireRight(rig.read(handle, block), block);
      }
      assertThat(rig.client.gets()).hasSize(2);
      assertThat(rig.client.gets().get(1).range().start()).isEqualTo(100);
    }
  }

  /**
   * An error in the middle of publishing, as where the heap is full: what waits for a block that
   * did not become ready is told, and the GET that is sent again brings nothing into wrong places.
   * A lent buffer has the first block again, which is there.
   */
  @ParameterizedTest
  @EnumSource(names = {"COPIED", "LENT"})
  void anErrorWhileBlocksArePublishedIsNobodysWrongBytes(Delivery delivery) throws Exception {
    try (FetchRig rig = new FetchRig(8, 16, delivery.limits, 2_000)) {
      CountDownLatch mayAnswer = new CountDownLatch(1);
      rig.client.script(
          (call, number) -> {
            mayAnswer.await();
            try {
              call.answerWell();
            } catch (RuntimeException | Error e) {
              // As the CRT's client does with what a handler throws.
              call.fail(Kind.REJECTED);
            }
          });
      Grant place = delivery == Delivery.LENT ? takePlace(rig) : null;
      AtomicInteger published = new AtomicInteger();
      ObjectHandle handle =
          rig.open(
              new StreamListener() {
                @Override
                public void onCount(Counter counter, long amount) {
                  if (counter == Counter.PREFETCHED_BYTES && published.incrementAndGet() == 2) {
                    throw new OutOfMemoryError("as if");
                  }
                }
              });
      List<RunFetch> runs = new ArrayList<>();
      rig.fetcher.prefetch(handle, new BlockRange(0, 3), Purpose.GUESS, runs::add);
      assertThat(runs).hasSize(1);
      List<CompletableFuture<byte[]>> readers = new ArrayList<>();
      for (long each = 0; each < 3; each++) {
        long block = each;
        readers.add(FetchRig.async(() -> rig.read(handle, block)));
      }
      awaitTrue(() -> Origin.of(runs.get(0).blocks().get(0)).interested.get() == 4);
      assertThat(rig.client.gets().get(0).lend()).isEqualTo(delivery == Delivery.LENT);
      mayAnswer.countDown();
      for (int block = 0; block < 3; block++) {
        rig.requireRight(readers.get(block).get(20, TimeUnit.SECONDS), block);
      }
      assertThat(published.get()).isGreaterThan(1);
      if (place != null) {
        place.giveBack();
      }
    }
  }

  /** Neither the slot nor the buffer is anybody's then but the client's. */
  @Test
  void anErrorWhileALentBufferIsTakenGivesItBack() throws Exception {
    try (FetchRig rig = new FetchRig(8, 16, lending(), 2_000)) {
      rig.client.script(
          (call, number) -> {
            if (number > 0) {
              call.answerWell();
              return;
            }
            call.head();
            try {
              call.lendBroken();
            } catch (OutOfMemoryError e) {
              // As the CRT's client does with what a handler throws.
              call.fail(Kind.REJECTED);
            }
          });
      ObjectHandle handle = rig.open();
      for (long block = 0; block < REQUEST_BLOCKS; block++) {
        rig.requireRight(rig.read(handle, block, REQUEST_BLOCKS, run -> {}), block);
      }
      assertThat(rig.client.gets()).hasSize(2);
      assertThat(rig.client.gets().get(0).lend()).isTrue();
    }
  }

  /**
   * An error between two GETs of a run, as where the heap is full: the reader is told at once, what
   * the run held comes back, and the next read finds nothing of it.
   */
  @ParameterizedTest
  @ValueSource(strings = {"a GET begins", "a GET has ended", "a GET is sent again"})
  void anErrorBetweenTheGetsOfARunEndsIt(String where) throws Exception {
    try (FetchRig rig = new FetchRig(8, 16, copying(), 2_000)) {
      rig.client.script(
          (call, number) -> {
            if (number > 0) {
              call.answerWell();
              return;
            }
            try {
              call.fail(Kind.NETWORK);
            } catch (OutOfMemoryError e) {
              assertThat(e).as("what the CRT's client logs").hasMessage("as if");
            }
          });
      AtomicBoolean thrown = new AtomicBoolean();
      ObjectHandle handle =
          rig.open(
              new StreamListener() {
                private void at(String here) {
                  if (here.equals(where) && thrown.compareAndSet(false, true)) {
                    throw new OutOfMemoryError("as if");
                  }
                }

                @Override
                public void onGetStarted(long offset, long bytes, boolean prefetch) {
                  at("a GET begins");
                }

                @Override
                public void onGetFinished(
                    long offset, long received, long nanos, @Nullable Exception failure) {
                  at("a GET has ended");
                }

                @Override
                public void onRetry(Exception failure) {
                  at("a GET is sent again");
                }
              });
      CompletableFuture<byte[]> reader = FetchRig.async(() -> rig.read(handle, 0));
      assertThatThrownBy(() -> reader.get(20, TimeUnit.SECONDS))
          .hasCauseInstanceOf(IOException.class)
          .hasRootCauseMessage("as if");
      assertThat(rig.pool.leased()).isZero();
      rig.requireRight(rig.read(handle, 0), 0);
    }
  }

  /** How the three blocks come: the second way is for short runs that find no other place. */
  enum Delivery {
    COPIED(copying()),
    LENT(new ClientLimits(3 * BLOCK, 1, 0, 12 * BLOCK, 2, 0));

    private final ClientLimits limits;

    Delivery(ClientLimits limits) {
      this.limits = limits;
    }
  }

  /** The one place that the client has for a copied GET. */
  private static Grant takePlace(FetchRig rig) {
    Need need = new Need(1, Need.MemoryKind.POOLED);
    return rig.admission.trySpeculate(rig.account, "another", need, Purpose.ASKED);
  }

  @ParameterizedTest
  @EnumSource(
      value = Vice.class,
      names = {"SHORT_GARBAGE", "LONG_GARBAGE", "GARBAGE_THAT_BREAKS_OFF", "SHORT_GARBAGE_AT_ONCE"})
  void nothingIsKeptOfAnAnswerThatEndedElsewhere(Vice vice) throws Exception {
    try (FetchRig rig = new FetchRig(8, 16, copying(), 2_000)) {
      rig.client.script(
          (call, number) -> {
            if (number == 0) {
              vice.answer(call);
            } else {
              call.answerWell();
            }
          });
      rig.requireRight(rig.read(rig.open(), 0, REQUEST_BLOCKS, run -> {}), 0);
      ByteRange asked = rig.client.gets().get(0).range();
      assertThat(rig.client.gets().get(1).range()).isEqualTo(asked);
      long received = rig.metrics.get(Counter.FETCHED_BYTES);
      assertThat(received).isGreaterThan(asked.length());
      assertThat(rig.metrics.get(Counter.DISCARDED_BYTES)).isEqualTo(received - asked.length());
    }
  }

  /** As they come where the store has told the length, or at once where the client has them all. */
  @ParameterizedTest
  @CsvSource({
    "STORE, 1, true",
    "STORE, 4, true",
    "CLIENT, 1, false",
    "CLIENT, 4, true",
    "NOBODY, 1, false",
    "NOBODY, 4, false"
  })
  void blocksAreShownOnceTheAnswerIsKnownToBeTheStores(
      LengthSource source, int chunkBlocks, boolean beforeTheEnd) throws Exception {
    try (FetchRig rig = new FetchRig(REQUEST_BLOCKS, 16, copying(), 20_000)) {
      CountDownLatch came = new CountDownLatch(1);
      CountDownLatch end = new CountDownLatch(1);
      rig.client.script(
          (call, number) -> {
            call.head(source);
            for (int block = 0; block < REQUEST_BLOCKS; block += chunkBlocks) {
              call.data(block * BLOCK, (block + chunkBlocks) * BLOCK);
            }
            came.countDown();
            end.await();
            call.done();
          });
      ObjectHandle handle = rig.open();
      rig.fetcher.prefetch(handle, new BlockRange(0, REQUEST_BLOCKS), Purpose.ASKED, run -> {});
      came.await();
      for (int block = 0; block < REQUEST_BLOCKS; block++) {
        assertThat(isShown(rig, handle, block)).isEqualTo(beforeTheEnd);
      }
      end.countDown();
      for (int block = 0; block < REQUEST_BLOCKS; block++) {
        rig.requireRight(rig.read(handle, block), block);
      }
    }
  }

  private static boolean isShown(FetchRig rig, ObjectHandle handle, long number) {
    Block block = rig.fetcher.find(handle, number);
    try {
      return block.isReady();
    } finally {
      block.unpin();
    }
  }

  @Test
  void answersThatCompleteOutOfOrder() throws Exception {
    try (FetchRig rig = FetchRig.copying(32)) {
      CountDownLatch last = new CountDownLatch(1);
      rig.client.script(
          (call, number) -> {
            if (number < 7) {
              last.await();
            }
            call.answerWell();
            last.countDown();
          });
      ObjectHandle handle = rig.open();
      rig.fetcher.prefetch(handle, new BlockRange(0, 32), Purpose.ASKED, run -> {});
      for (long block = 0; block < 32; block++) {
        rig.requireRight(rig.read(handle, block), block);
      }
      assertThat(rig.client.gets()).hasSize(8);
    }
  }

  @Test
  void aGetThatItsClientSendsAgainAfterItsEndCountsNoMore() throws Exception {
    try (FetchRig rig = FetchRig.copying(4)) {
      rig.client.script(
          (call, number) -> {
            if (number > 0) {
              call.answerWell();
            } else {
              assertThat(call.awaitCancel(20_000)).isTrue();
              call.resend();
              call.fail(Kind.CANCELLED);
            }
          });
      ObjectHandle handle = rig.open();
      List<RunFetch> runs = new ArrayList<>();
      rig.fetcher.prefetch(handle, new BlockRange(0, 1), Purpose.GUESS, runs::add);
      runs.get(0).abandon();
      rig.client.awaitQuiet();
      rig.requireRight(rig.read(handle, 0), 0);
    }
  }

  /** Everything at once, in too little memory, with streams that come and go. */
  @ParameterizedTest
  @EnumSource
  @Slow
  void aStormOfVicesEndsInRightBytesOrErrors(Memory memory) throws Exception {
    long seed = Seed.draw();
    int blocks = 64;
    try (FetchRig rig = new FetchRig(blocks, memory.blocks, memory.limits, 200)) {
      AtomicInteger served = new AtomicInteger();
      Vice[] vices = Vice.values();
      rig.client.script(
          (call, number) -> {
            SplittableRandom random = new SplittableRandom(seed + number);
            if (random.nextInt(40) == 0) {
              call.awaitCancel(2_000);
              call.fail(Kind.CANCELLED);
            } else if (random.nextInt(3) == 0) {
              vices[random.nextInt(vices.length)].answer(call);
            } else {
              call.answerWell();
            }
          });
      Threads.run(8, seed, (thread, random) -> readAtRandom(rig, blocks, random, served));
      assertThat(served.get()).as("blocks served, seed %d", seed).isGreaterThan(500);
    }
  }

  /** How much of it there is. */
  enum Memory {
    TWO_BUFFERS(2, copying()),
    PLENTY(96, copying()),
    LENT(8, lending());

    private final int blocks;
    private final ClientLimits limits;

    Memory(int blocks, ClientLimits limits) {
      this.blocks = blocks;
      this.limits = limits;
    }
  }

  private static void readAtRandom(
      FetchRig rig, int blocks, SplittableRandom random, AtomicInteger served) {
    Queue<RunFetch> runs = new ConcurrentLinkedQueue<>();
    ObjectHandle handle = rig.open();
    for (int i = 0; i < 120; i++) {
      long block = random.nextInt(blocks);
      long end = Math.min(blocks, block + random.nextInt(1, 8));
      if (random.nextInt(4) == 0) {
        rig.fetcher.prefetch(handle, new BlockRange(block, end), Purpose.GUESS, runs::add);
      }
      try {
        rig.requireRight(rig.read(handle, block, end, runs::add), block);
        served.incrementAndGet();
      } catch (IOException e) {
        assertThat(e).hasMessageNotContaining("deadline");
      }
      if (random.nextInt(10) == 0) {
        handle.close();
        abandonAll(runs);
        handle = rig.open();
      }
    }
    abandonAll(runs);
  }

  private static void abandonAll(Queue<RunFetch> runs) {
    for (RunFetch run = runs.poll(); run != null; run = runs.poll()) {
      run.abandon();
    }
  }

  private static ClientLimits copying() {
    return ClientLimits.copying(REQUEST_BLOCKS * BLOCK, 16, 0);
  }

  private static ClientLimits lending() {
    return new ClientLimits(BLOCK, 8, 0, REQUEST_BLOCKS * BLOCK, 4, 0);
  }
}
