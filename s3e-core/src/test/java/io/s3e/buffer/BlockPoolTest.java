// SPDX-License-Identifier: Apache-2.0
package io.s3e.buffer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class BlockPoolTest {
  private static final int KIB = 1 << 10;
  private static final int MIB = 1 << 20;

  @Test
  void leasesAreDirectBuffersOfTheBlockSizeWithViewsOfTheirOwn() {
    try (BlockPool pool = new BlockPool(new MemoryBudget(8 * MIB), 64 * KIB, 100)) {
      BlockLease lease = pool.tryAcquire();
      ByteBuffer buffer = lease.buffer();
      assertThat(buffer.isDirect()).isTrue();
      assertThat(buffer.capacity()).isEqualTo(64 * KIB);
      assertThat(buffer.position()).isZero();
      assertThat(buffer.limit()).isEqualTo(64 * KIB);
      buffer.position(7).limit(9).order(ByteOrder.LITTLE_ENDIAN);
      assertThat(lease.buffer()).isSameAs(buffer);
      lease.release();

      BlockLease next = pool.tryAcquire();
      assertThat(next.buffer().position()).isZero();
      assertThat(next.buffer().limit()).isEqualTo(64 * KIB);
      assertThat(next.buffer().order()).isEqualTo(ByteOrder.BIG_ENDIAN);
      next.release();
    }
  }

  @Test
  void buffersOfOneArenaDoNotOverlap() {
    try (BlockPool pool = new BlockPool(new MemoryBudget(8 * MIB), 256 * KIB, 9)) {
      List<BlockLease> leases = acquireAll(pool);
      assertThat(leases).hasSize(9);
      for (int i = 0; i < leases.size(); i++) {
        fill(leases.get(i).buffer(), (byte) i);
      }
      for (int i = 0; i < leases.size(); i++) {
        assertThat(allBytesAre(leases.get(i).buffer(), (byte) i)).as("buffer %d", i).isTrue();
      }
      leases.forEach(BlockLease::release);
    }
  }

  @Test
  void arenasOfAboutOneMebibyteAreReservedAsDemandComes() {
    MemoryBudget budget = new MemoryBudget(64 * MIB);
    try (BlockPool pool = new BlockPool(budget, 64 * KIB, 40)) {
      assertThat(budget.reserved()).isZero();
      assertThat(pool.leased()).isZero();
      assertThat(pool.maxBlocks() - pool.leased()).isEqualTo(40);
      BlockLease first = pool.tryAcquire();
      assertThat(budget.reserved()).isEqualTo(MIB);
      assertThat(pool.leased()).isEqualTo(1);
      assertThat(pool.maxBlocks() - pool.leased()).isEqualTo(39);
      List<BlockLease> rest = acquireAll(pool);
      assertThat(rest).hasSize(39);
      assertThat(pool.reservedBytes()).isEqualTo(40 * 64 * KIB);
      assertThat(budget.reserved()).isEqualTo(40 * 64 * KIB);
      assertThat(pool.tryAcquire()).isNull();
      first.release();
      rest.forEach(BlockLease::release);
      assertThat(pool.leased()).isZero();
      assertThat(pool.reservedBytes()).isEqualTo(40 * 64 * KIB);
    }
    assertThat(budget.reserved()).isZero();
  }

  @Test
  void aBlockLargerThanAnArenaIsAnArenaOfItsOwn() {
    MemoryBudget budget = new MemoryBudget(64 * MIB);
    try (BlockPool pool = new BlockPool(budget, 3 * MIB, 4)) {
      BlockLease lease = pool.tryAcquire();
      assertThat(budget.reserved()).isEqualTo(3 * MIB);
      assertThat(lease.buffer().capacity()).isEqualTo(3 * MIB);
      lease.release();
    }
  }

  @Test
  void aBudgetOfTwoBlocksYieldsTwo() {
    MemoryBudget budget = new MemoryBudget(2 * 64 * KIB + 17);
    try (BlockPool pool = new BlockPool(budget, 64 * KIB, 1000)) {
      List<BlockLease> leases = acquireAll(pool);
      assertThat(leases).hasSize(2);
      assertThat(budget.reserved()).isEqualTo(2 * 64 * KIB);
      leases.get(0).release();
      assertThat(pool.tryAcquire()).isNotNull();
    }
  }

  @Test
  void anExhaustedBudgetRefusesUntilSomebodyGivesBack() {
    MemoryBudget budget = new MemoryBudget(4 * MIB);
    assertThat(budget.tryReserve(4 * MIB)).isTrue();
    try (BlockPool pool = new BlockPool(budget, 64 * KIB, 100)) {
      assertThat(pool.tryAcquire()).isNull();
      assertThat(pool.reservedBytes()).isZero();
      budget.release(64 * KIB);
      BlockLease lease = pool.tryAcquire();
      assertThat(lease).isNotNull();
      assertThat(budget.available()).isZero();
      lease.release();
    }
    assertThat(budget.reserved()).isEqualTo(4 * MIB - 64 * KIB);
  }

  @Test
  void poolsOfDifferentBlockSizesShareOneBudget() {
    MemoryBudget budget = new MemoryBudget(4 * MIB);
    try (BlockPool small = new BlockPool(budget, 64 * KIB, 1000);
        BlockPool large = new BlockPool(budget, 1536 * KIB, 1000)) {
      BlockLease one = large.tryAcquire();
      List<BlockLease> many = acquireAll(small);
      assertThat(many).hasSize(40);
      assertThat(large.tryAcquire()).isNull();
      assertThat(budget.reserved()).isEqualTo(small.reservedBytes() + large.reservedBytes());

      many.forEach(BlockLease::release);
      assertThat(large.tryAcquire()).as("free buffers of another pool still hold memory").isNull();
      small.trim();
      assertThat(small.reservedBytes()).isZero();
      BlockLease two = large.tryAcquire();
      assertThat(two).isNotNull();
      assertThat(budget.reserved()).isEqualTo(3 * MIB);
      one.release();
      two.release();
    }
    assertThat(budget.reserved()).isZero();
  }

  @Test
  void theSecondReleaseThrowsAndTouchesNobody() {
    try (BlockPool pool = new BlockPool(new MemoryBudget(MIB), 64 * KIB, 1)) {
      BlockLease stale = pool.tryAcquire();
      stale.release();
      BlockLease holder = pool.tryAcquire();
      assertThatThrownBy(stale::release)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("second time");
      assertThatThrownBy(stale::buffer).isInstanceOf(IllegalStateException.class);
      assertThat(pool.leased()).isEqualTo(1);
      assertThat(pool.tryAcquire()).isNull();
      fill(holder.buffer(), (byte) 1);
      holder.release();
      assertThat(pool.leased()).isZero();
    }
  }

  @Test
  void trimFreesIdleArenasOnlyAndThePoolGrowsAgain() {
    MemoryBudget budget = new MemoryBudget(64 * MIB);
    CountingMemory memory = new CountingMemory(budget);
    BlockPool pool = new BlockPool(budget, 256 * KIB, 12, MIB, memory);
    List<BlockLease> leases = acquireAll(pool);
    assertThat(memory.liveArenas()).isEqualTo(3);
    BlockLease kept = leases.remove(5);
    fill(kept.buffer(), (byte) 42);
    leases.forEach(BlockLease::release);
    pool.trim();
    assertThat(memory.liveArenas()).isEqualTo(1);
    assertThat(budget.reserved()).isEqualTo(MIB).isEqualTo(pool.reservedBytes());
    assertThat(pool.leased()).isEqualTo(1);
    assertThat(pool.maxBlocks() - pool.leased()).isEqualTo(11);
    assertThat(allBytesAre(kept.buffer(), (byte) 42)).isTrue();

    assertThat(acquireAll(pool)).hasSize(11);
    assertThat(budget.reserved()).isEqualTo(3 * MIB);
    assertThat(allBytesAre(kept.buffer(), (byte) 42)).isTrue();
  }

  @Test
  void closeFreesAnArenaWithItsLastLease() {
    MemoryBudget budget = new MemoryBudget(64 * MIB);
    CountingMemory memory = new CountingMemory(budget);
    BlockPool pool = new BlockPool(budget, 512 * KIB, 6, MIB, memory);
    List<BlockLease> leases = acquireAll(pool);
    leases.remove(5).release();
    leases.remove(4).release();
    pool.close();
    assertThat(memory.liveArenas()).isEqualTo(2);
    assertThat(pool.tryAcquire()).isNull();
    assertThat(pool.leased()).isEqualTo(4);
    leases.get(0).release();
    assertThat(budget.reserved()).isEqualTo(2 * MIB);
    pool.close();
    leases.get(1).release();
    assertThat(budget.reserved()).isEqualTo(MIB);
    leases.get(3).release();
    leases.get(2).release();
    assertThat(budget.reserved()).isZero();
    assertThat(pool.reservedBytes()).isZero();
    assertThat(memory.liveArenas()).isZero();
    assertThat(pool.leased()).isZero();
    assertThat(pool.tryAcquire()).isNull();
  }

  @Test
  void refusedDirectMemoryGivesTheReservationBackAndIsNotAskedForAgainAtOnce() {
    MemoryBudget budget = new MemoryBudget(64 * MIB);
    CountingMemory memory = new CountingMemory(budget);
    try (BlockPool pool = new BlockPool(budget, MIB, 8, MIB, memory)) {
      BlockLease lease = pool.tryAcquire();
      memory.refuse(true);
      assertThat(pool.tryAcquire()).isNull();
      assertThat(pool.tryAcquire()).isNull();
      assertThat(memory.refusals()).isEqualTo(1);
      assertThat(budget.reserved()).isEqualTo(MIB);

      memory.refuse(false);
      lease.release();
      BlockLease again = pool.tryAcquire();
      assertThat(again).as("free buffers are handed out all the same").isNotNull();
      again.release();
      pool.trim();
      assertThat(acquireAll(pool)).as("a trim made room").hasSize(8);
    }
  }

  @Test
  void anotherFailureOfTheAllocationGivesTheReservationBackToo() {
    MemoryBudget budget = new MemoryBudget(MIB);
    ArenaMemory broken =
        new ArenaMemory() {
          @Override
          public ByteBuffer allocate(int bytes) {
            throw new IllegalStateException("broken");
          }

          @Override
          public void free(ByteBuffer memory) {
            throw new AssertionError("nothing was allocated");
          }
        };
    try (BlockPool pool = new BlockPool(budget, MIB, 1, MIB, broken)) {
      assertThatThrownBy(pool::tryAcquire).hasMessage("broken");
      assertThat(budget.reserved()).isZero();
      assertThat(pool.leased()).isZero();
    }
  }

  /** Stands for a heap that has no room for what an arena is beside its memory. */
  @Test
  void memoryThatCannotBeCutIsFreed() {
    MemoryBudget budget = new MemoryBudget(8 * MIB);
    CountingMemory memory = new CountingMemory(budget);
    ArenaMemory uneven =
        new ArenaMemory() {
          @Override
          public ByteBuffer allocate(int bytes) {
            return memory.allocate(bytes - 1);
          }

          @Override
          public void free(ByteBuffer arena) {
            memory.free(arena);
          }
        };
    try (BlockPool pool = new BlockPool(budget, 256 * KIB, 8, MIB, uneven)) {
      assertThatThrownBy(pool::tryAcquire).isInstanceOf(IndexOutOfBoundsException.class);
      assertThat(memory.allocations()).isEqualTo(1);
      assertThat(memory.liveArenas()).isZero();
      assertThat(budget.reserved()).isZero();
    }
  }

  @Test
  void aPoolOfNothingHandsOutNothing() {
    try (BlockPool pool = new BlockPool(new MemoryBudget(MIB), 64 * KIB, 0)) {
      assertThat(pool.tryAcquire()).isNull();
      pool.trim();
      assertThat(pool.maxBlocks() - pool.leased()).isZero();
    }
  }

  @Test
  void badSizesAreRejected() {
    MemoryBudget budget = new MemoryBudget(MIB);
    assertThatThrownBy(() -> new BlockPool(budget, 0, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("block size 0");
    assertThatThrownBy(() -> new BlockPool(budget, 1, -1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("-1 blocks");
  }

  static List<BlockLease> acquireAll(BlockPool pool) {
    List<BlockLease> leases = new ArrayList<>();
    for (BlockLease lease = pool.tryAcquire(); lease != null; lease = pool.tryAcquire()) {
      leases.add(lease);
    }
    return leases;
  }

  private static void fill(ByteBuffer buffer, byte value) {
    for (int i = 0; i < buffer.capacity(); i++) {
      buffer.put(i, value);
    }
  }

  private static boolean allBytesAre(ByteBuffer buffer, byte value) {
    for (int i = 0; i < buffer.capacity(); i++) {
      if (buffer.get(i) != value) {
        return false;
      }
    }
    return true;
  }
}
