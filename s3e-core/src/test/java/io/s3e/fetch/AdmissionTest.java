// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import static io.s3e.fetch.FetchRig.BLOCK;
import static io.s3e.fetch.FetchRig.REQUEST_BLOCKS;
import static io.s3e.fetch.FetchRig.async;
import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.block.BlockRange;
import io.s3e.buffer.BlockLease;
import io.s3e.client.ClientLimits;
import io.s3e.client.GetRequest;
import io.s3e.memory.Admission;
import io.s3e.memory.Block;
import io.s3e.memory.Counts;
import io.s3e.memory.Grant;
import io.s3e.memory.Need;
import io.s3e.memory.Need.MemoryKind;
import io.s3e.memory.Purpose;
import io.s3e.testing.CapturedLog;
import io.s3e.testing.Pause;
import io.s3e.testing.Slow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who gets memory and concurrency when there is too little of both. */
@Timeout(60)
@Tag("waits")
class AdmissionTest {
  private static final Need LONG = new Need(1, MemoryKind.LONG);
  private static final Need SHORT = new Need(1, MemoryKind.SHORT);

  private static final Object OBJECT = "object";

  /** The reader of that file gives up when it is closed, or after 20 s. */
  private static BooleanSupplier orLate(ObjectHandle file) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    return () -> file.isClosed() || System.nanoTime() - deadline > 0;
  }

  /** Two copied requests of a block, {@code slots} lent ones of a request. */
  private static FetchRig lending(int slots) {
    ClientLimits limits =
        new ClientLimits(BLOCK, 2, 0, REQUEST_BLOCKS * BLOCK, slots, (long) slots * REQUEST_BLOCKS);
    return new FetchRig(64, 8, limits, 20_000);
  }

  private static Grant require(Grant grant) {
    assertThat(grant).isNotNull();
    return grant;
  }

  private static void giveBack(Grant grant) {
    grant.leases().forEach(grant::release);
    grant.leaveLane();
  }

  @Test
  void aLongGuessTakesASlotOrNothing() throws Exception {
    try (FetchRig rig = lending(3)) {
      Admission admission = rig.admission;
      Grant first = require(admission.trySpeculate(rig.account, OBJECT, LONG, Purpose.GUESS));
      Grant second = require(admission.trySpeculate(rig.account, OBJECT, LONG, Purpose.GUESS));

      assertThat(first.isLent() && second.isLent()).isTrue();
      assertThat(admission.isCrowded(rig.account)).as("one slot is left, the reserve").isTrue();
      assertThat(admission.trySpeculate(rig.account, OBJECT, LONG, Purpose.GUESS)).isNull();
      Grant copied = require(admission.trySpeculate(rig.account, OBJECT, SHORT, Purpose.GUESS));
      assertThat(copied.isLent()).isFalse();

      for (Grant grant : List.of(first, second, copied)) {
        giveBack(grant);
      }
      assertThat(admission.isCrowded(rig.account)).isFalse();
    }
  }

  @Test
  void aGuessThatFillsASlotTakesOneBeforeBuffersAndAReaderBuffersBeforeASlot() throws Exception {
    try (FetchRig rig = lending(3)) {
      Admission admission = rig.admission;
      Need filling = new Need(1, MemoryKind.SLOT_FILLING);
      List<Grant> guesses = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        guesses.add(require(admission.trySpeculate(rig.account, OBJECT, filling, Purpose.GUESS)));
      }
      ObjectHandle handle = rig.open();
      Grant read = require(admission.await(rig.account, OBJECT, filling, orLate(handle)));

      assertThat(guesses).extracting(Grant::isLent).containsExactly(true, true, false);
      assertThat(read.isLent()).isFalse();
      guesses.forEach(AdmissionTest::giveBack);
      giveBack(read);
    }
  }

  @Test
  void aReaderThatFindsNoMemorySaysSoAndFailsByIt() throws Exception {
    try (CapturedLog log = new CapturedLog();
        FetchRig rig = FetchRig.impatient(8, Duration.ofMillis(1_600))) {
      List<BlockLease> leases = new ArrayList<>();
      for (BlockLease one = rig.pool.tryAcquire(); one != null; one = rig.pool.tryAcquire()) {
        leases.add(one);
      }
      assertThatThrownBy(() -> rig.read(rig.open(), 0))
          .hasMessageContaining("no memory or place among the GETs became free in 1 s");
      assertThat(log.lines("A read has waited"))
          .hasSize(1)
          .allMatch(line -> line.contains("GET s3://bucket/key is not sent: other reads hold all"));
      leases.forEach(BlockLease::release);
    }
  }

  @Test
  void readersAreServedInOrderAndBeforeAnyGuess() throws Exception {
    try (FetchRig rig = lending(1)) {
      Admission admission = rig.admission;
      ObjectHandle handle = rig.open();
      List<Grant> taken = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        taken.add(require(admission.await(rig.account, OBJECT, SHORT, orLate(handle))));
      }
      List<CompletableFuture<Grant>> readers = new ArrayList<>();
      List<Integer> order = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        int number = i;
        readers.add(
            async(
                () -> {
                  Grant grant = admission.await(rig.account, OBJECT, SHORT, orLate(handle));
                  synchronized (order) {
                    order.add(number);
                  }
                  return grant;
                }));
        int waiting = i + 1;
        awaitTrue(() -> Counts.waiting(rig.account) == waiting);
      }

      assertThat(admission.trySpeculate(rig.account, OBJECT, SHORT, Purpose.GUESS)).isNull();
      for (int i = 0; i < 3; i++) {
        giveBack(taken.get(i));
        taken.set(i, require(readers.get(i).get(20, TimeUnit.SECONDS)));
      }

      assertThat(order).containsExactly(0, 1, 2);
      taken.forEach(grant -> giveBack(grant));
      giveBack(require(admission.trySpeculate(rig.account, OBJECT, SHORT, Purpose.GUESS)));
    }
  }

  @Test
  void aLongReadThatFindsNoSlotIsCopiedInTheEnd() throws Exception {
    try (FetchRig rig = lending(1)) {
      Admission admission = rig.admission;
      ObjectHandle handle = rig.open();
      Grant slot = require(admission.await(rig.account, OBJECT, LONG, orLate(handle)));
      Grant copied = require(admission.await(rig.account, OBJECT, LONG, orLate(handle)));

      assertThat(slot.isLent()).isTrue();
      assertThat(copied.isLent()).isFalse();

      giveBack(slot);
      giveBack(copied);
    }
  }

  @Test
  void aClosedStreamLeavesTheQueueToTheOthers() throws Exception {
    try (FetchRig rig = lending(1)) {
      Admission admission = rig.admission;
      ObjectHandle open = rig.open();
      ObjectHandle closing = rig.open();
      List<Grant> taken = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        taken.add(require(admission.await(rig.account, OBJECT, SHORT, orLate(open))));
      }
      CompletableFuture<Grant> first =
          async(() -> admission.await(rig.account, OBJECT, SHORT, orLate(closing)));
      awaitTrue(() -> Counts.waiting(rig.account) == 1);
      CompletableFuture<Grant> second =
          async(() -> admission.await(rig.account, OBJECT, SHORT, orLate(open)));
      awaitTrue(() -> Counts.waiting(rig.account) == 2);

      closing.close();
      assertThat(first.get(20, TimeUnit.SECONDS)).isNull();
      giveBack(taken.remove(0));
      taken.add(require(second.get(20, TimeUnit.SECONDS)));

      taken.forEach(grant -> giveBack(grant));
    }
  }

  @Test
  void aSlotIsTakenFromItsReaderOnlyAfterARest() throws Exception {
    try (FetchRig rig = lending(1)) {
      ObjectHandle handle = rig.open();
      rig.read(handle, 0, REQUEST_BLOCKS, run -> {});
      long lentAt = System.nanoTime();
      assertThat(rig.client.gets().get(0).lend()).isTrue();

      // The slot's other blocks are unread: the next reader is served beside it.
      rig.requireRight(rig.read(handle, 8, 8 + REQUEST_BLOCKS, run -> {}), 8);
      if (System.nanoTime() - lentAt < TimeUnit.MILLISECONDS.toNanos(400)) {
        assertThat(rig.client.gets().get(1).lend()).isFalse();
      }
      Pause.millis(700, "longer than a slot is left in peace");
      rig.requireRight(rig.read(handle, 16, 16 + REQUEST_BLOCKS, run -> {}), 16);
      List<GetRequest> gets = rig.client.gets();
      assertThat(gets.get(gets.size() - 1).lend()).isTrue();
    }
  }

  @Test
  void aSlotStaysWithAReaderThatIsSlow() throws Exception {
    try (FetchRig rig = lending(1)) {
      ObjectHandle slow = rig.open();
      rig.read(slow, 0, REQUEST_BLOCKS, run -> {});
      Pause.millis(700, "a reader that is slow");
      slow.progress.onRead(0, FetchRig.BLOCK);

      rig.requireRight(rig.read(rig.open(), 8, 8 + REQUEST_BLOCKS, run -> {}), 8);
      assertThat(rig.client.gets().get(1).lend()).isFalse();
      rig.requireRight(rig.read(slow, 3), 3);
      assertThat(rig.client.gets()).hasSize(2);
    }
  }

  @Test
  @Slow
  void theSlotsOfAForgottenStreamServeGuesses() throws Exception {
    try (FetchRig rig = lending(3)) {
      ObjectHandle forgotten = rig.open();
      rig.fetcher.prefetch(forgotten, new BlockRange(20, 28), Purpose.GUESS, run -> {});
      awaitTrue(() -> Counts.blocks(rig.index) == 8);
      rig.client.awaitQuiet();
      Admission admission = rig.admission;
      assertThat(admission.trySpeculate(rig.account, OBJECT, LONG, Purpose.GUESS)).isNull();

      Pause.millis(5_300, "after which a stream counts as forgotten");
      assertThat(admission.isCrowded(rig.account)).isFalse();
      Grant grant = require(admission.trySpeculate(rig.account, OBJECT, LONG, Purpose.GUESS));
      assertThat(grant.isLent()).isTrue();
      giveBack(grant);
    }
  }

  /** The guess comes again, as guesses do; nothing else makes room for it. */
  @Test
  void aGuessTakesASlotThatHasWaitedToBeWritten() throws Exception {
    try (FetchRig rig = lending(3)) {
      ObjectHandle handle = rig.open();
      List<Block> dirty = new ArrayList<>();
      rig.fetcher.prefetch(handle, new BlockRange(20, 28), Purpose.GUESS, run -> {});
      for (long index = 20; index < 28; index++) {
        rig.requireRight(rig.read(handle, index), index);
        Block block = rig.fetcher.find(handle, index);
        assertThat(block.markDirty()).isTrue();
        block.unpin();
        dirty.add(block);
      }
      List<Grant> granted = new ArrayList<>();
      awaitTrue(
          "a guess is granted",
          () -> {
            Grant grant = rig.admission.trySpeculate(rig.account, OBJECT, LONG, Purpose.GUESS);
            return grant != null && granted.add(grant);
          });
      assertThat(granted.get(0).isLent()).isTrue();
      assertThat(Counts.blocks(rig.index)).as("blocks of the other slot").isEqualTo(REQUEST_BLOCKS);
      granted.forEach(AdmissionTest::giveBack);
      dirty.forEach(Block::markClean);
    }
  }

  @Test
  void inACrowdAReaderTakesAlongWhatItWouldHavePrefetched() throws Exception {
    try (FetchRig rig = lending(3)) {
      ObjectHandle handle = rig.open();
      CountDownLatch held = new CountDownLatch(1);
      rig.client.script(
          (call, number) -> {
            if (number < 2) {
              held.await(20, TimeUnit.SECONDS);
            }
            call.answerWell();
          });
      rig.fetcher.prefetch(handle, new BlockRange(20, 28), Purpose.GUESS, run -> {});
      awaitTrue(() -> rig.client.gets().size() == 2);
      assertThat(rig.admission.isCrowded(rig.account)).isTrue();

      Patience patience = new Patience(Duration.ofSeconds(20));
      rig.fetcher
          .demand(handle, new BlockRange(0, 1), 0, REQUEST_BLOCKS, patience, run -> {})
          .unpin();
      awaitTrue(() -> rig.client.gets().size() == 3);
      assertThat(rig.client.gets().get(2).range().length()).isEqualTo(REQUEST_BLOCKS * BLOCK);
      held.countDown();
      rig.requireRight(rig.read(handle, 3), 3);
      assertThat(rig.client.gets()).hasSize(3);
    }
  }

  /** A reader of a footer, whose GET would begin at the front of a small object. */
  @Test
  void whereMemoryIsLittleTheAwaitedBlockComesFirst() throws Exception {
    ClientLimits limits = ClientLimits.copying(REQUEST_BLOCKS * BLOCK, 4, 0);
    try (FetchRig rig = new FetchRig(8, 2, limits, 60_000)) {
      ObjectHandle handle = rig.open();
      List<BlockLease> held = List.of(rig.pool.tryAcquire());
      Patience patience = new Patience(Duration.ofSeconds(20));
      Block first = rig.fetcher.demand(handle, new BlockRange(0, 4), 3, 4, patience, run -> {});
      assertThat(first).isNotNull();
      assertThat(first.start()).as("of the one buffer that there is").isEqualTo(3L * BLOCK);
      first.unpin();
      rig.requireRight(rig.read(handle, 3), 3);
      assertThat(rig.client.gets()).hasSize(1);
      held.forEach(BlockLease::release);
    }
  }
}
