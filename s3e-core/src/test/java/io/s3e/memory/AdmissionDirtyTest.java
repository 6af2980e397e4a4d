// SPDX-License-Identifier: Apache-2.0
package io.s3e.memory;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.buffer.BlockLease;
import io.s3e.buffer.BlockPool;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.memory.Need.MemoryKind;
import io.s3e.memory.TestBlocks.Fetched;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who gets memory when it is full of blocks that are still to be written to disk. */
@Timeout(60)
class AdmissionDirtyTest {
  private static final int BLOCK_BYTES = 4 << 10;
  private static final int BUFFERS = 3;
  private static final int SLOTS = 3;
  private static final Need ONE = new Need(1, MemoryKind.POOLED);
  private static final Need TWO = new Need(2, MemoryKind.POOLED);
  private static final Need SLOT = new Need(1, MemoryKind.LONG);

  private static final Object OBJECT = "object";

  private final MemoryBudget budget = new MemoryBudget((long) BUFFERS * BLOCK_BYTES);
  private final BlockPool pool = new BlockPool(budget, BLOCK_BYTES, BUFFERS);
  private final BlockIndex index = new BlockIndex();
  private final Admission admission = new Admission(budget, pool, index);
  private final Carrier carrier =
      admission.carrier(new ClientLimits(BLOCK_BYTES, 8, 0, 4 * BLOCK_BYTES, SLOTS, 0));
  private final Account account = admission.account(carrier);
  private final List<Grant> held = new ArrayList<>();
  private int next;

  @AfterEach
  void allMemoryComesBack() {
    for (Grant grant : held) {
      grant.leases().forEach(grant::release);
      grant.leaveLane();
    }
    carrier.close();
    admission.close();
    assertThat(pool.leased()).isZero();
    assertThat(account.heldBytes()).isZero();
    pool.close();
  }

  /** The grant of a reader that waits at most {@code millis}. */
  private Grant demand(Need need, long millis) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    return admission.await(account, OBJECT, need, () -> System.nanoTime() - deadline >= 0);
  }

  private Grant require(Need need) throws InterruptedException {
    Grant grant = demand(need, 20_000);
    assertThat(grant).isNotNull();
    return grant;
  }

  /** Fetches a block, for a reader, into pooled memory or into a slot. */
  private Fetched fetch(Need need) throws InterruptedException {
    Fetched fetched = new Fetched(next++, 1);
    fetched.fate.lastReadNanos.set(System.nanoTime());
    index.add(fetched.block());
    Grant grant = require(need);
    assertThat(grant.isLent()).isEqualTo(need == SLOT);
    if (grant.isLent()) {
      publish(carrier.lent(), fetched, fetched.memory, grant::releaseSlot);
    } else {
      BlockLease lease = grant.leases().get(0);
      ByteBuffer memory = lease.buffer().put(0, fetched.memory, 0, TestBlocks.BYTES);
      publish(admission.pooled(), fetched, memory, () -> grant.release(lease));
      grant.leaveLane();
    }
    return fetched;
  }

  private static void publish(
      Residency residency, Fetched fetched, ByteBuffer memory, Runnable free) {
    residency.publish(
        fetched.blocks,
        List.of(),
        memory,
        () -> {
          fetched.free();
          free.run();
        });
  }

  private Fetched read(Fetched fetched) {
    assertThat(TestBlocks.tryRead(fetched.block())).isTrue();
    return fetched;
  }

  private Fetched dirty(Fetched fetched) {
    assertThat(fetched.block().markDirty()).isTrue();
    return fetched;
  }

  @Test
  void aReaderTakesWhatIsCleanThenWhatIsDirtyThenWhatIsUnread() throws Exception {
    Fetched unread = dirty(fetch(ONE));
    Fetched dirty = dirty(read(fetch(ONE)));
    Fetched clean = read(fetch(ONE));
    held.add(require(ONE));
    assertThat(clean.isFree()).isTrue();
    assertThat(dirty.isFree()).isFalse();
    held.add(require(ONE));
    assertThat(dirty.isFree()).isTrue();
    assertThat(unread.isFree()).isFalse();
    held.add(require(ONE));
    assertThat(unread.isFree()).isTrue();
    assertThat(demand(ONE, 50)).as("the others are held").isNull();
    dirty.block().markClean();
    unread.block().markClean();
  }

  @Test
  void aReaderTakesADirtySlotBeforeAnUnreadOne() throws Exception {
    Fetched unread = fetch(SLOT);
    Fetched dirty = dirty(read(fetch(SLOT)));
    Fetched clean = read(fetch(SLOT));
    // Its reader has not rested yet, by any clock.
    unread.fate.lastReadNanos.set(System.nanoTime() + TimeUnit.SECONDS.toNanos(60));
    held.add(require(SLOT));
    assertThat(clean.isFree()).isTrue();
    assertThat(dirty.isFree()).isFalse();
    Grant lent = require(SLOT);
    held.add(lent);
    assertThat(lent.isLent()).as("what is to be written refuses nobody").isTrue();
    assertThat(dirty.isFree()).isTrue();
    assertThat(unread.isFree()).isFalse();
    dirty.block().markClean();
  }

  /** Guesses leave what has just come to be written for 20 ms, however that goes. */
  @Test
  void whatIsDirtyRefusesNobodyForLong() throws Exception {
    List<Fetched> dirty = new ArrayList<>();
    for (int i = 0; i < SLOTS; i++) {
      dirty.add(dirty(read(fetch(SLOT))));
    }
    for (int i = 0; i < BUFFERS; i++) {
      dirty.add(dirty(read(fetch(ONE))));
    }
    for (Need need : List.of(SLOT, ONE)) {
      Grant grant = admission.trySpeculate(account, OBJECT, need, Purpose.ASKED);
      assertThat(grant).as("ASKED of %s", need).isNotNull();
      held.add(grant);
    }
    for (Need need : List.of(SLOT, ONE)) {
      awaitTrue(
          "GUESS of " + need,
          () -> {
            Grant grant = admission.trySpeculate(account, OBJECT, need, Purpose.GUESS);
            return grant != null && held.add(grant);
          });
    }
    assertThat(dirty.stream().filter(Fetched::isFree).count()).isGreaterThanOrEqualTo(4);
    dirty.forEach(each -> each.block().markClean());
  }

  @Test
  void aReaderTakesAsManyDirtyBuffersAsItNeeds() throws Exception {
    List<Fetched> dirty = new ArrayList<>();
    for (int i = 0; i < BUFFERS; i++) {
      dirty.add(dirty(read(fetch(ONE))));
    }
    Grant grant = require(TWO);
    held.add(grant);
    assertThat(grant.leases()).hasSize(2);
    assertThat(dirty.get(0).isFree()).isTrue();
    assertThat(dirty.get(1).isFree()).isTrue();
    dirty.forEach(each -> each.block().markClean());
  }

  @Test
  void anotherEngineGetsWhatIsDirtyAfterWhatIsCleanAndBeforeWhatIsUnread() throws Exception {
    Fetched unread = fetch(ONE);
    Fetched dirty = dirty(read(fetch(ONE)));
    Fetched clean = read(fetch(ONE));
    admission.shrinkPool(BLOCK_BYTES, true);
    assertThat(List.of(clean.isFree(), dirty.isFree(), unread.isFree()))
        .containsExactly(true, false, false);
    admission.shrinkPool((long) BUFFERS * BLOCK_BYTES, false);
    assertThat(List.of(dirty.isFree(), unread.isFree())).containsExactly(true, false);
    admission.shrinkPool(BLOCK_BYTES, true);
    assertThat(unread.isFree()).isTrue();
    dirty.block().markClean();
  }
}
