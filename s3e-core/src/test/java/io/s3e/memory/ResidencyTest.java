package io.s3e.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.s3e.memory.Residency.Idle;
import io.s3e.memory.TestBlocks.Fetched;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Which slab goes, by one thread and a clock of the test's. */
class ResidencyTest {
  private static final long BRIEFLY = Idle.BRIEFLY.nanos();
  private static final long LONG = Idle.LONG.nanos();

  private final AtomicLong clock = new AtomicLong(1_000_000);
  private final BlockIndex index = new BlockIndex();
  private final AtomicInteger roomMade = new AtomicInteger();
  private final Residency residency = new Residency(index, clock::get, roomMade::incrementAndGet);
  private int next;

  private Fetched publish() {
    Fetched fetched = new Fetched(next++, 1);
    fetched.fate.lastReadNanos.set(clock.get());
    assertThat(index.add(fetched.block())).isTrue();
    residency.publish(fetched.blocks, fetched.memory, fetched::free);
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
    assertThat(index.size()).isEqualTo(1);
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
      if (index.size() == memory) {
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
    assertThat(residency.unreadEntries()).isLessThan(200);
    assertThat(residency.evictUnread()).isTrue();
    assertThat(oldest.isFree()).isTrue();
  }

  @Test
  void whatOneOwnerFetchedGoesWithoutAWord() {
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
    assertThat(index.size()).isEqualTo(1);
    assertThat(residency.unreadEntries()).isEqualTo(1);
    assertThat(residency.spareSlabs(Idle.LONG)).isZero();
    assertThat(List.of(unread.fate.left, read.fate.left, again.fate.left, pinned.fate.left))
        .allSatisfy(left -> assertThat(left).hasValue(0));
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
    assertThat(index.size()).isZero();
    assertThat(all).allSatisfy(slab -> assertThat(slab.fate.left).hasValue(0));
  }

  @Test
  void whatLeavesForRoomIsToldAndUnderPressureWhatIsRead() {
    Fetched first = publishRead();
    assertThat(first.fate.leavingSoon).as("memory is not short").hasValue(0);
    assertThat(residency.evictRead()).isTrue();
    assertThat(first.fate.left).hasValue(1);
    Fetched second = publishRead();
    assertThat(second.fate.leavingSoon).hasValue(1);
    clock.addAndGet(10_000_000_000L);
    assertThat(publishRead().fate.leavingSoon).as("10 s later").hasValue(0);
  }

  @Test
  void aFateThatFailsCostsNoMemory() {
    Fetched slab = new Fetched(50, 3);
    slab.blocks.forEach(index::add);
    residency.publish(slab.blocks, slab.memory, slab::free);
    slab.fate.failsToLeave = true;
    assertThatIllegalStateException().isThrownBy(residency::evictUnread);
    assertThat(slab.freed).hasValue(1);
    assertThat(index.size()).isZero();
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
}
