// SPDX-License-Identifier: Apache-2.0
package io.s3e.buffer;

import static io.s3e.buffer.BlockPoolTest.acquireAll;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.testing.Seed;
import io.s3e.testing.Slow;
import io.s3e.testing.Threads;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * Random programs by many threads. Every holder stamps its buffer at both ends with a number of its
 * own and finds the stamps again before it releases; a second holder or a free under a lease would
 * have overwritten them ({@link CountingMemory} overwrites what is freed).
 */
class BlockPoolStressTest {
  private static final int BLOCK_BYTES = 4 << 10;
  private static final int ARENA_BYTES = 64 << 10;
  private static final int BLOCKS = 203;

  private final MemoryBudget budget = new MemoryBudget(16 << 20);
  private final CountingMemory memory = new CountingMemory(budget);
  private final BlockPool pool = new BlockPool(budget, BLOCK_BYTES, BLOCKS, ARENA_BYTES, memory);

  @Test
  void aMillionRandomOperationsBySixteenThreadsLeaveThePoolFull() throws Exception {
    long seed = Seed.draw();
    AtomicInteger operations = new AtomicInteger();
    Threads.run(
        16,
        seed,
        (thread, random) -> {
          Holder holder = new Holder(pool, thread);
          for (int i = 0; i < 62_500; i++) {
            holder.acquireOrRelease(random, 24);
            operations.incrementAndGet();
          }
          holder.releaseAll();
        });
    assertThat(operations).hasValue(1_000_000);
    requireFullAndExact(seed);
  }

  @Test
  void trimsRaceAcquisitionsAndReleases() throws Exception {
    long seed = Seed.draw();
    int rounds = 20;
    for (int round = 0; round < rounds; round++) {
      Threads.run(
          8,
          seed + round,
          (thread, random) -> {
            Holder holder = new Holder(pool, thread);
            for (int i = 0; i < 1_000; i++) {
              if (thread == 0 || random.nextInt(200) == 0) {
                pool.trim();
              }
              if (thread != 0) {
                holder.acquireOrRelease(random, 20);
              } else if (i % 64 == 0) {
                requirePlausible(pool);
              }
            }
            holder.releaseAll();
          });
      // However the threads were scheduled, the next round begins without an arena.
      pool.trim();
      assertThat(memory.liveBytes()).as("round %d, seed %d", round, seed).isZero();
    }
    assertThat(memory.allocations())
        .as("arenas came and went, seed %d", seed)
        .isGreaterThanOrEqualTo(rounds);
    assertThat(budget.reserved()).isZero();
    requireFullAndExact(seed);
  }

  @Test
  void leasesAreReleasedByOtherThreadsThanTheirAcquirers() throws Exception {
    long seed = Seed.draw();
    LinkedTransferQueue<BlockLease> handedOver = new LinkedTransferQueue<>();
    Threads.run(
        8,
        seed,
        (thread, random) -> {
          for (int i = 0; i < 20_000; i++) {
            BlockLease lease = random.nextBoolean() ? pool.tryAcquire() : null;
            if (lease != null) {
              lease.buffer().putInt(0, System.identityHashCode(lease));
              handedOver.add(lease);
            }
            BlockLease taken = handedOver.poll();
            if (taken != null) {
              assertThat(taken.buffer().getInt(0)).isEqualTo(System.identityHashCode(taken));
              taken.release();
            }
          }
        });
    handedOver.forEach(BlockLease::release);
    requireFullAndExact(seed);
  }

  @Test
  @Slow
  void ofManyReleasesOfOneLeaseExactlyOneSucceeds() throws Exception {
    long seed = Seed.draw();
    for (int round = 0; round < 300; round++) {
      BlockLease lease = pool.tryAcquire();
      AtomicInteger succeeded = new AtomicInteger();
      AtomicInteger failed = new AtomicInteger();
      Threads.run(
          4,
          seed,
          (thread, random) -> {
            try {
              lease.release();
              succeeded.incrementAndGet();
            } catch (IllegalStateException e) {
              failed.incrementAndGet();
            }
          });
      assertThat(succeeded).hasValue(1);
      assertThat(failed).hasValue(3);
      assertThat(pool.leased()).isZero();
    }
  }

  @Test
  @Slow
  void closeRacesAcquisitionsAndReleasesAndLeavesNothing() throws Exception {
    long seed = Seed.draw();
    SplittableRandom root = new SplittableRandom(seed);
    for (int round = 0; round < 100; round++) {
      CountingMemory arenas = new CountingMemory(budget);
      BlockPool closing = new BlockPool(budget, BLOCK_BYTES, BLOCKS, ARENA_BYTES, arenas);
      AtomicBoolean closeReturned = new AtomicBoolean();
      int closeAt = root.nextInt(100);
      Threads.run(
          4,
          root.nextLong(),
          (thread, random) -> {
            Holder holder = new Holder(closing, thread);
            for (int i = 0; i < 100; i++) {
              boolean late = closeReturned.get();
              boolean acquired = holder.acquireOrRelease(random, 30);
              assertThat(late && acquired).as("acquired after close").isFalse();
              if (thread == 0 && i == closeAt) {
                closing.close();
                closeReturned.set(true);
              }
            }
            holder.releaseAll();
          });
      assertThat(closing.leased()).as("seed %d", seed).isZero();
      assertThat(arenas.liveBytes()).as("seed %d", seed).isZero();
      assertThat(closing.reservedBytes()).as("seed %d", seed).isZero();
      assertThat(budget.reserved()).as("seed %d", seed).isZero();
    }
  }

  @Test
  void twoPoolsFightOverOneBudgetAndItsCountStaysExact() throws Exception {
    MemoryBudget scarce = new MemoryBudget(40L * BLOCK_BYTES + 1);
    CountingMemory smallArenas = new CountingMemory(scarce);
    CountingMemory largeArenas = new CountingMemory(scarce);
    BlockPool small = new BlockPool(scarce, BLOCK_BYTES, 100, 4 * BLOCK_BYTES, smallArenas);
    BlockPool large = new BlockPool(scarce, 3 * BLOCK_BYTES, 100, 1, largeArenas);
    long seed = Seed.draw();
    Threads.run(
        8,
        seed,
        (thread, random) -> {
          BlockPool mine = thread % 2 == 0 ? small : large;
          Holder holder = new Holder(mine, thread);
          for (int i = 0; i < 10_000; i++) {
            boolean starved = !holder.acquireOrRelease(random, 12);
            if (starved && random.nextInt(10) == 0) {
              (mine == small ? large : small).trim();
            }
            if (scarce.reserved() > scarce.limit()) {
              throw new AssertionError("over the limit: " + scarce);
            }
          }
          holder.releaseAll();
        });
    assertThat(scarce.reserved())
        .as("seed %d", seed)
        .isEqualTo(small.reservedBytes() + large.reservedBytes())
        .isEqualTo(smallArenas.liveBytes() + largeArenas.liveBytes());
    small.close();
    large.close();
    assertThat(scarce.reserved()).as("seed %d", seed).isZero();
  }

  @Test
  void realDirectMemoryIsMappedAndUnmappedUnderLoad() throws Exception {
    MemoryBudget real = new MemoryBudget(8 << 20);
    BlockPool direct = new BlockPool(real, 128 << 10, 64);
    long seed = Seed.draw();
    Threads.run(
        8,
        seed,
        (thread, random) -> {
          Holder holder = new Holder(direct, thread);
          for (int i = 0; i < 5_000; i++) {
            holder.acquireOrRelease(random, 8);
            if (random.nextInt(50) == 0) {
              direct.trim();
            }
          }
          holder.releaseAll();
        });
    assertThat(direct.leased()).as("seed %d", seed).isZero();
    direct.close();
    assertThat(real.reserved()).as("seed %d", seed).isZero();
  }

  private void requireFullAndExact(long seed) {
    assertThat(pool.leased()).as("seed %d", seed).isZero();
    assertThat(pool.maxBlocks() - pool.leased()).as("seed %d", seed).isEqualTo(BLOCKS);
    assertThat(budget.reserved())
        .as("seed %d", seed)
        .isEqualTo(memory.liveBytes())
        .isEqualTo(pool.reservedBytes());
    List<BlockLease> all = acquireAll(pool);
    Set<Long> distinct = new HashSet<>();
    for (int i = 0; i < all.size(); i++) {
      all.get(i).buffer().putLong(0, i);
    }
    all.forEach(lease -> distinct.add(lease.buffer().getLong(0)));
    assertThat(distinct).as("distinct buffers, seed %d", seed).hasSize(BLOCKS);
    all.forEach(BlockLease::release);
  }

  private static void requirePlausible(BlockPool pool) {
    int leased = pool.leased();
    if (leased < 0 || leased > BLOCKS) {
      throw new AssertionError(leased + " leased of " + BLOCKS);
    }
  }

  /** One thread's leases, each stamped with a number that nobody else uses. */
  private static final class Holder {
    private final BlockPool pool;
    private final int thread;
    private final List<BlockLease> leases = new ArrayList<>();
    private final List<Long> stamps = new ArrayList<>();
    private int serial;

    Holder(BlockPool pool, int thread) {
      this.pool = pool;
      this.thread = thread;
    }

    /** Does one of the two at random; answers whether a lease was acquired. */
    boolean acquireOrRelease(SplittableRandom random, int most) {
      if (leases.isEmpty() || leases.size() < most && random.nextBoolean()) {
        return acquire();
      }
      release(random.nextInt(leases.size()));
      return false;
    }

    private boolean acquire() {
      BlockLease lease = pool.tryAcquire();
      if (lease == null) {
        return false;
      }
      long stamp = (long) thread << 32 | ++serial;
      ByteBuffer buffer = lease.buffer();
      buffer.putLong(0, stamp);
      buffer.putLong(buffer.capacity() - Long.BYTES, ~stamp);
      leases.add(lease);
      stamps.add(stamp);
      return true;
    }

    private void release(int which) {
      BlockLease lease = leases.remove(which);
      long stamp = stamps.remove(which);
      ByteBuffer buffer = lease.buffer();
      long first = buffer.getLong(0);
      long last = buffer.getLong(buffer.capacity() - Long.BYTES);
      if (first != stamp || last != ~stamp) {
        throw new AssertionError(
            lease + " holds " + first + " and " + last + " instead of " + stamp + " twice");
      }
      lease.release();
    }

    void releaseAll() {
      while (!leases.isEmpty()) {
        release(leases.size() - 1);
      }
    }
  }
}
