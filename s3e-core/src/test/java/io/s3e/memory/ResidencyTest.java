// SPDX-License-Identifier: Apache-2.0
package io.s3e.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.memory.IdleSlabs.Idle;
import io.s3e.memory.TestBlocks.Fetched;
import io.s3e.testing.Seed;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Which slab goes, by one thread and a clock of the test's. */
class ResidencyTest {
  private static final long BRIEFLY = Idle.BRIEFLY.nanos;
  private static final long LONG = Idle.LONG.nanos;

  private final AtomicLong clock = new AtomicLong(1_000_000);
  private final BlockIndex index = new BlockIndex();
  private final AtomicInteger roomMade = new AtomicInteger();
  private final Residency residency = new Residency(index, clock::get, roomMade::incrementAndGet);
  private int next;

  private Fetched publish() {
    Fetched fetched = new Fetched(next++, 1);
    fetched.fate.lastReadNanos.set(clock.get());
    assertThat(index.add(fetched.block())).isTrue();
    residency.publish(fetched.blocks, List.of(), fetched.memory, fetched::free);
    return fetched;
  }

  private Fetched publishRead() {
    Fetched fetched = publish();
    read(fetched);
    return fetched;
  }

  private static void read(Fetched fetched) {
    assertThat(TestBlocks.tryRead(fetched.block())).isTrue();
  }

  private List<Fetched> publishRead(int count) {
    List<Fetched> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      all.add(publishRead());
    }
    return all;
  }

  private Fetched publishDirty() {
    Fetched fetched = publishRead();
    assertThat(fetched.block().markDirty()).isTrue();
    return fetched;
  }

  /** A slab that a guess has met. */
  private Fetched publishParked() {
    Fetched fetched = publishDirty();
    assertThat(residency.evictRead()).isFalse();
    return fetched;
  }

  private static long alive(List<Fetched> slabs) {
    return slabs.stream().filter(slab -> !slab.isFree()).count();
  }

  @Test
  void aGuessTakesOnlyWhatIsRead() {
    Fetched unread = publish();
    assertThat(residency.evictRead()).isFalse();
    Fetched read = publishRead();
    Fetched abandoned = publish();
    abandoned.block().abandon();
    assertThat(roomMade).hasValue(2);
    assertThat(residency.evictRead()).isTrue();
    assertThat(residency.evictRead()).isTrue();
    assertThat(residency.evictRead()).isFalse();
    assertThat(read.isFree()).isTrue();
    assertThat(abandoned.isFree()).isTrue();
    assertThat(unread.isFree()).isFalse();
    assertThat(Counts.blocks(index)).isEqualTo(1);
  }

  @Test
  void theOldestUnreadSlabGoesFirst() {
    Fetched first = publish();
    Fetched second = publish();
    Fetched third = publish();
    read(first);
    assertThat(residency.evictUnread()).isTrue();
    assertThat(second.isFree()).isTrue();
    assertThat(residency.evictUnread()).isTrue();
    assertThat(third.isFree()).isTrue();
    assertThat(residency.evictUnread()).isFalse();
    assertThat(first.isFree()).isFalse();
  }

  @Test
  void aScanDoesNotPushOutWhatIsReadAgain() {
    List<Fetched> hot = publishRead(20);
    hot.forEach(ResidencyTest::read);
    publishRead(40);
    for (int i = 0; i < 1_000; i++) {
      publishRead();
      assertThat(residency.evictRead()).isTrue();
      if (i % 10 == 0) {
        hot.forEach(ResidencyTest::read);
      }
    }
    assertThat(alive(hot)).isEqualTo(20);
  }

  @Test
  void aWorkingSetOfThePastLeaves() {
    List<Fetched> past = publishRead(40);
    past.forEach(ResidencyTest::read);
    for (int i = 0; i < 400; i++) {
      Fetched present = publishRead();
      read(present);
      assertThat(residency.evictRead()).isTrue();
    }
    assertThat(alive(past)).isZero();
  }

  private List<Fetched> publishKept(int count) {
    List<Fetched> all = publishRead(count);
    all.forEach(slab -> slab.block().keep());
    return all;
  }

  /** Memory stays as full as it is. */
  private void scan(int slabs) {
    for (int i = 0; i < slabs; i++) {
      publishRead();
      assertThat(residency.evictRead()).isTrue();
    }
  }

  @Test
  void whatIsKeptOutlivesAScanAndAWorkingSet() {
    List<Fetched> kept = publishKept(4);
    List<Fetched> hot = publishRead(60);
    for (int i = 0; i < 50; i++) {
      hot.forEach(slab -> TestBlocks.tryRead(slab.block()));
      scan(20);
    }
    assertThat(alive(kept)).isEqualTo(4);
    scan(2_000);
    assertThat(alive(kept)).isEqualTo(4);
  }

  @Test
  void noMoreThanAnEighthIsKept() {
    List<Fetched> kept = publishKept(40);
    publishRead(24);
    scan(500);
    assertThat(alive(kept)).isBetween(8L, 9L);
    assertThat(alive(kept.subList(31, 40))).as("the latest").isEqualTo(alive(kept));
    assertThat(residency.spareSlabs(Idle.LONG)).isEqualTo(64);
  }

  @Test
  void ofWhatIsKeptThatStaysWhichIsReadAgain() {
    List<Fetched> read = publishKept(4);
    List<Fetched> others = publishKept(40);
    publishRead(20);
    for (int i = 0; i < 500; i++) {
      read.forEach(ResidencyTest::read);
      scan(1);
    }
    assertThat(alive(read)).isEqualTo(4);
    assertThat(alive(others)).isLessThan(6);
  }

  @Test
  void whatIsKeptGoesWhereThereIsNothingElse() {
    List<Fetched> kept = publishKept(3);
    List<Fetched> others = publishRead(3);
    for (int i = 0; i < 6; i++) {
      assertThat(residency.evictRead()).isTrue();
    }
    assertThat(alive(kept) + alive(others)).isZero();
    assertThat(residency.evictRead()).isFalse();
    assertThat(residency.spareSlabs(Idle.LONG)).isZero();
  }

  @Test
  void aKeptSlabThatIsDirtyIsParkedAndKeptAgain() {
    Fetched kept = publishDirty();
    kept.block().keep();
    assertThat(residency.evictRead()).isFalse();
    assertThat(residency.parkedEntries()).isEqualTo(1);
    kept.block().markClean();
    assertThat(residency.parkedEntries()).isZero();
    publishRead(16);
    scan(100);
    assertThat(kept.isFree()).isFalse();
    residency.evictIf(block -> block == kept.block());
    assertThat(kept.freed).hasValue(1);
    assertThat(residency.spareSlabs(Idle.LONG)).isEqualTo(16);
  }

  /** LRU has not one hit here. */
  @Test
  void aLoopThatIsLargerThanMemoryHasHits() {
    int memory = 64;
    Fetched[] loop = new Fetched[memory * 5 / 4];
    int hits = 0;
    int reads = loop.length * 40;
    for (int i = 0; i < reads; i++) {
      Fetched there = loop[i % loop.length];
      if (there != null && TestBlocks.tryRead(there.block())) {
        hits++;
        continue;
      }
      if (Counts.blocks(index) == memory) {
        assertThat(residency.evictRead()).isTrue();
      }
      loop[i % loop.length] = publishRead();
    }
    assertThat(hits).as("of %d reads", reads).isGreaterThan(reads / 4);
  }

  @Test
  void evictionIsBoundedWhereEverythingWasReadAgain() {
    List<Fetched> all = publishRead(1_000);
    all.forEach(ResidencyTest::read);
    for (int i = 1; i <= 30; i++) {
      assertThat(residency.evictRead()).isTrue();
      assertThat(alive(all)).isEqualTo(1_000 - i);
      all.stream().filter(slab -> !slab.isFree()).forEach(ResidencyTest::read);
    }
  }

  @Test
  void anUnreadSlabOfAReaderThatReadsIsNotIdle() {
    Fetched slab = publish();
    clock.addAndGet(BRIEFLY - 1);
    assertThat(residency.evictIdle(Idle.BRIEFLY)).isFalse();
    clock.addAndGet(BRIEFLY);
    slab.fate.lastReadNanos.set(clock.get());
    assertThat(residency.evictIdle(Idle.BRIEFLY)).isFalse();
    clock.addAndGet(BRIEFLY);
    assertThat(residency.evictIdle(Idle.LONG)).isFalse();
    assertThat(residency.evictIdle(Idle.BRIEFLY)).isTrue();
    assertThat(slab.isFree()).isTrue();
  }

  @Test
  void idleSlabsAreLookedAtOnceMore() {
    Fetched first = publish();
    Fetched second = publish();
    Fetched third = publish();
    clock.addAndGet(LONG);
    assertThat(residency.spareSlabs(Idle.LONG)).isEqualTo(3);
    first.fate.lastReadNanos.set(clock.get());
    read(second);
    assertThat(residency.evictIdle(Idle.LONG)).isTrue();
    assertThat(third.isFree()).as("the only one that is still idle and unread").isTrue();
    assertThat(residency.evictIdle(Idle.LONG)).isFalse();
    assertThat(residency.spareSlabs(Idle.LONG)).as("what is read").isEqualTo(1);
  }

  @Test
  void aSlabThatBecomesIdleIsFoundSoon() {
    Fetched slab = publish();
    clock.addAndGet(LONG - 1);
    assertThat(residency.spareSlabs(Idle.LONG)).isZero();
    clock.addAndGet(LONG / 16);
    assertThat(residency.spareSlabs(Idle.LONG)).isEqualTo(1);
    assertThat(residency.evictIdle(Idle.LONG)).isTrue();
    assertThat(slab.freed).hasValue(1);
  }

  @Test
  void slabsThatWereReadLeaveTheQueueOfUnreadOnes() {
    Fetched oldest = publish();
    for (int i = 0; i < 10_000; i++) {
      publishRead();
      assertThat(residency.evictRead()).isTrue();
    }
    assertThat(residency.unread.size()).isLessThan(200);
    assertThat(residency.evictUnread()).isTrue();
    assertThat(oldest.isFree()).isTrue();
  }

  @Test
  void whatOneOwnerFetchedGoes() {
    Fetched unread = publish();
    Fetched read = publishRead();
    Fetched again = publishRead();
    read(again);
    Fetched other = publish();
    Fetched pinned = publishRead();
    assertThat(pinned.block().tryPin()).isTrue();
    residency.evictIf(block -> block.fate() != other.fate);
    assertThat(List.of(unread.isFree(), read.isFree(), again.isFree())).containsOnly(true);
    assertThat(other.isFree()).isFalse();
    assertThat(pinned.isFree()).isFalse();
    pinned.block().unpin();
    assertThat(pinned.freed).hasValue(1);
    assertThat(Counts.blocks(index)).isEqualTo(1);
    assertThat(residency.unread.size()).isEqualTo(1);
    assertThat(residency.spareSlabs(Idle.LONG)).isZero();
  }

  @Test
  void closingTakesWhatIsThereAndWhatStillComes() {
    List<Fetched> all = publishRead(3);
    all.add(publish());
    Fetched pinned = publish();
    assertThat(pinned.block().tryPin()).isTrue();
    residency.close();
    assertThat(alive(all)).isZero();
    Fetched late = publish();
    assertThat(late.freed).hasValue(1);
    assertThat(pinned.isFree()).isFalse();
    TestBlocks.read(pinned.block());
    pinned.block().unpin();
    assertThat(pinned.freed).hasValue(1);
    residency.close();
    assertThat(Counts.blocks(index)).isZero();
  }

  @Test
  void everySlabIsFreedOnce() {
    List<Fetched> all = publishRead(200);
    Set<Integer> freed = new HashSet<>();
    while (residency.evictRead()) {
      all.forEach(slab -> freed.add(slab.freed.get()));
    }
    assertThat(freed).containsExactlyInAnyOrder(0, 1);
    assertThat(alive(all)).isZero();
    assertThat(residency.spareSlabs(Idle.LONG)).isZero();
  }

  @Test
  void aDirtySlabLeavesNotWithTheCleanOnes() {
    Fetched dirty = publishDirty();
    Fetched clean = publishRead();
    assertThat(residency.spareSlabs(Idle.LONG)).isEqualTo(2);
    assertThat(residency.evictRead()).isTrue();
    assertThat(clean.isFree()).isTrue();
    assertThat(residency.evictRead()).isFalse();
    assertThat(dirty.isFree()).isFalse();
    assertThat(residency.parkedEntries()).isEqualTo(1);
    assertThat(residency.spareSlabs(Idle.LONG)).as("what is parked").isZero();
    assertThat(TestBlocks.tryRead(dirty.block())).isTrue();
  }

  @Test
  void aParkedSlabComesBackWithItsLastMark() {
    Fetched slab = publishDirty();
    assertThat(slab.block().markDirty()).isTrue();
    assertThat(residency.evictRead()).isFalse();
    slab.block().markClean();
    assertThat(residency.parkedEntries()).isEqualTo(1);
    int before = roomMade.get();
    slab.block().markClean();
    assertThat(roomMade).hasValue(before + 1);
    assertThat(residency.parkedEntries()).isZero();
    assertThat(residency.spareSlabs(Idle.LONG)).isEqualTo(1);
    assertThat(residency.evictDirty(Purpose.DEMAND)).isFalse();
    assertThat(residency.evictRead()).isTrue();
    assertThat(slab.freed).hasValue(1);
  }

  @Test
  void theDirtySlabThatWasParkedFirstGoesFirst() {
    Fetched first = publishParked();
    Fetched second = publishParked();
    assertThat(residency.parkedEntries()).isEqualTo(2);
    assertThat(residency.evictDirty(Purpose.DEMAND)).isTrue();
    assertThat(first.isFree()).isTrue();
    assertThat(second.isFree()).isFalse();
    assertThat(residency.evictDirty(Purpose.DEMAND)).isTrue();
    assertThat(second.isFree()).isTrue();
    first.block().markClean();
    second.block().markClean();
    assertThat(residency.parkedEntries()).isZero();
  }

  /** Who waits for a slab has read it before it can have been written. */
  @Test
  void aGuessLeavesADirtySlabThatHasJustCome() {
    Fetched dirty = publishParked();
    assertThat(residency.evictDirty(Purpose.GUESS)).isFalse();
    clock.addAndGet(19_999_999);
    assertThat(residency.evictDirty(Purpose.GUESS)).isFalse();
    assertThat(residency.parkedEntries()).isEqualTo(1);
    clock.incrementAndGet();
    assertThat(residency.evictDirty(Purpose.GUESS)).isTrue();
    assertThat(dirty.isFree()).isTrue();

    for (Purpose waits : List.of(Purpose.DEMAND, Purpose.ASKED, Purpose.HEDGE)) {
      Fetched taken = publishParked();
      assertThat(residency.evictDirty(waits)).as("by %s", waits).isTrue();
      assertThat(taken.isFree()).isTrue();
    }
  }

  @Test
  void aSlabIsParkedAgain() {
    Fetched slab = publishParked();
    slab.block().markClean();
    assertThat(slab.block().markDirty()).isTrue();
    assertThat(residency.parkedEntries()).as("its turn has not come anew").isZero();
    assertThat(residency.evictDirty(Purpose.DEMAND)).isFalse();
    assertThat(residency.evictRead()).isFalse();
    assertThat(residency.parkedEntries()).isEqualTo(1);
    assertThat(residency.evictDirty(Purpose.DEMAND)).isTrue();
    assertThat(slab.freed).hasValue(1);
    slab.block().markClean();
    assertThat(residency.spareSlabs(Idle.LONG)).isZero();
  }

  @Test
  void aSlabThatWasReadAgainIsParkedWithoutItsTouch() {
    Fetched slab = publishDirty();
    read(slab);
    assertThat(residency.evictRead()).isFalse();
    assertThat(residency.parkedEntries()).isEqualTo(1);
    assertThat(residency.spareSlabs(Idle.LONG)).isZero();
    slab.block().markClean();
    assertThat(residency.evictRead()).isTrue();
  }

  @Test
  void whatIsReadWhileParkedStaysLonger() {
    Fetched hot = publishParked();
    read(hot);
    hot.block().markClean();
    Fetched cold = publishRead();
    assertThat(residency.evictRead()).isTrue();
    assertThat(cold.isFree()).isTrue();
    assertThat(hot.isFree()).isFalse();
  }

  @Test
  void aWaitingReaderTakesTheSlabThatWasParkedFirst() {
    Fetched first = publishParked();
    Fetched second = publishParked();
    Fetched third = publishParked();
    second.block().markClean();
    assertThat(residency.evictDirty(Purpose.DEMAND)).isTrue();
    assertThat(first.isFree()).isTrue();
    assertThat(residency.evictDirty(Purpose.DEMAND)).isTrue();
    assertThat(third.isFree()).isTrue();
    assertThat(residency.evictDirty(Purpose.DEMAND)).isFalse();
    assertThat(second.isFree()).as("it is clean").isFalse();
    first.block().markClean();
    third.block().markClean();
    assertThat(residency.spareSlabs(Idle.LONG)).isEqualTo(1);
    assertThat(Counts.blocks(index)).isEqualTo(1);
  }

  @Test
  void theSlabOfAForgottenStreamStaysForGuessesUntilItIsClean() {
    Fetched slab = publish();
    assertThat(slab.block().markDirty()).isTrue();
    clock.addAndGet(LONG);
    assertThat(residency.spareSlabs(Idle.LONG)).isZero();
    assertThat(residency.evictIdle(Idle.LONG)).isFalse();
    slab.block().markClean();
    clock.addAndGet(LONG / 16);
    assertThat(residency.spareSlabs(Idle.LONG)).isEqualTo(1);
    assertThat(slab.block().markDirty()).as("after the walk").isTrue();
    assertThat(residency.evictIdle(Idle.LONG)).isFalse();
    assertThat(residency.evictIdle(Idle.BRIEFLY)).as("for a reader").isTrue();
    assertThat(slab.freed).hasValue(1);
    slab.block().markClean();
  }

  @Test
  void aWaitingReaderTakesTheOldestUnreadSlabDirtyOrNot() {
    Fetched dirty = publish();
    assertThat(dirty.block().markDirty()).isTrue();
    Fetched clean = publish();
    assertThat(residency.evictUnread()).isTrue();
    assertThat(dirty.isFree()).isTrue();
    assertThat(clean.isFree()).isFalse();
  }

  @Test
  void theEndTakesWhatIsDirty() {
    Fetched parked = publishParked();
    Fetched other = publishParked();
    Fetched dirty = publishDirty();
    residency.evictIf(block -> block.fate() != other.fate);
    assertThat(parked.freed).hasValue(1);
    assertThat(dirty.freed).hasValue(1);
    assertThat(other.isFree()).isFalse();
    assertThat(residency.parkedEntries()).isEqualTo(1);
    residency.close();
    assertThat(other.freed).hasValue(1);
    assertThat(residency.parkedEntries()).isZero();
    for (Fetched each : List.of(parked, other, dirty)) {
      each.block().markClean();
    }
    assertThat(residency.spareSlabs(Idle.LONG)).isZero();
    assertThat(Counts.blocks(index)).isZero();
  }

  /** The disk stands still for one slab and goes on for the others. */
  @Test
  void parkingKeepsNothingOfWhatHasBecomeClean() {
    Fetched stuck = publishParked();
    for (int i = 0; i < 1_000; i++) {
      Fetched slab = publishParked();
      slab.block().markClean();
      assertThat(residency.parkedEntries()).isEqualTo(1);
      assertThat(residency.evictRead()).isTrue();
    }
    assertThat(stuck.isFree()).isFalse();
  }

  /** Who hears of a block runs code of others, such as a sink of GETs. */
  @Test
  void aFateThatThrowsKeepsNoBlockInMemory() {
    Fetched fetched = new Fetched(next, 3);
    fetched.fate.throwing = true;
    residency.publish(fetched.blocks, List.of(), fetched.memory, fetched::free);
    assertThatIllegalStateException().isThrownBy(residency::evictUnread);
    assertThat(fetched.fate.droppedUnread).hasValue(3);
    assertThat(fetched.freed).hasValue(1);
  }

  @Test
  void aFateThatThrowsLeavesNoSlabUnread() {
    Fetched fetched = publish();
    fetched.fate.throwing = true;
    assertThatIllegalStateException().isThrownBy(() -> read(fetched));
    assertThat(residency.unread.size()).isZero();
    assertThat(residency.evictRead()).isTrue();
    assertThat(fetched.freed).hasValue(1);
  }

  @Test
  void memoryThatFindsNoSlabGoesBack() {
    Fetched fetched = new Fetched(next, 1);
    Residency failing =
        new Residency(
            index,
            () -> {
              throw new IllegalStateException("as where the heap is full");
            },
            () -> {});
    assertThatIllegalStateException()
        .isThrownBy(
            () -> failing.publish(fetched.blocks, List.of(), fetched.memory, fetched::free));
    assertThat(fetched.freed).hasValue(1);
  }

  /** One thread does what comes by chance; each eviction is held to what it may take. */
  @Test
  void everyEvictionTakesWhatItMayAndFindsWhatThereIs() {
    long seed = Seed.draw();
    SplittableRandom random = new SplittableRandom(seed);
    List<Fetched> alive = new ArrayList<>();
    Map<Fetched, Integer> marks = new HashMap<>();
    for (int i = 0; i < 50_000; i++) {
      Fetched any = alive.isEmpty() ? null : alive.get(random.nextInt(alive.size()));
      int what = random.nextInt(10);
      if (any == null || what < 2) {
        alive.add(publish());
        continue;
      }
      int held = marks.getOrDefault(any, 0);
      if (what < 4) {
        read(any);
      } else if (what < 6) {
        assertThat(any.block().markDirty()).isTrue();
        marks.put(any, held + 1);
      } else if (what < 8) {
        if (held > 0) {
          any.block().markClean();
          marks.put(any, held - 1);
        }
      } else {
        List<Fetched> unread = alive.stream().filter(slab -> slab.block().isUnread()).toList();
        List<Fetched> dirty =
            alive.stream()
                .filter(slab -> !slab.block().isUnread() && marks.getOrDefault(slab, 0) > 0)
                .toList();
        List<Fetched> clean =
            alive.stream().filter(slab -> !unread.contains(slab) && !dirty.contains(slab)).toList();
        if (residency.evictRead()) {
          assertThat(alive(clean)).as("seed %d", seed).isEqualTo(clean.size() - 1);
        } else if (residency.evictDirty(Purpose.DEMAND)) {
          assertThat(clean).as("seed %d", seed).isEmpty();
          assertThat(alive(dirty)).as("seed %d", seed).isEqualTo(dirty.size() - 1);
        } else if (residency.evictUnread()) {
          assertThat(clean).as("seed %d", seed).isEmpty();
          assertThat(dirty).as("seed %d", seed).isEmpty();
          assertThat(unread.get(0).isFree()).as("seed %d", seed).isTrue();
        } else {
          assertThat(alive).as("seed %d", seed).isEmpty();
        }
        alive.removeIf(Fetched::isFree);
      }
    }
  }

  /** No eviction would ever find it. */
  @Test
  void whatCannotBeEnteredGivesItsMemoryBack() {
    Fetched fetched = new Fetched(next++, 1);
    assertThat(index.add(fetched.block())).isTrue();
    List<Block> unwanted =
        new ArrayList<>() {
          @Override
          public boolean isEmpty() {
            throw new OutOfMemoryError("as if");
          }
        };
    assertThatThrownBy(
            () -> residency.publish(fetched.blocks, unwanted, fetched.memory, fetched::free))
        .isInstanceOf(OutOfMemoryError.class);
    assertThat(fetched.isFree()).isTrue();
    assertThat(Counts.blocks(index)).isZero();
  }
}
