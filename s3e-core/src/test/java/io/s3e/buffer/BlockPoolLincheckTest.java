// SPDX-License-Identifier: Apache-2.0
package io.s3e.buffer;

import static org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt.forClasses;

import io.s3e.testing.Programs;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The pool behaves like a counter of leases, one call at a time: it refuses only when everything is
 * leased or it is closed, whatever trims go on meanwhile, and {@code leased()} is exact. Behind the
 * counter, no buffer has two holders, memory is freed once and not under a lease, and the budget
 * equals the arenas whenever nothing runs.
 */
@Param(name = "me", gen = ThreadIdGen.class)
@Tag("lincheck")
@Timeout(value = 30, unit = TimeUnit.MINUTES)
public class BlockPoolLincheckTest {
  private static final int BLOCK_BYTES = Integer.BYTES;
  private static final int BLOCKS = 2;
  private static final int MAX_THREADS = 8;

  private final MemoryBudget budget = new MemoryBudget((long) BLOCKS * BLOCK_BYTES);
  private final HeapMemory memory = new HeapMemory();
  private final BlockPool pool =
      new BlockPool(budget, BLOCK_BYTES, BLOCKS, 2 * BLOCK_BYTES, memory);
  private final List<Deque<BlockLease>> mine = new ArrayList<>();
  private volatile boolean closed;

  public BlockPoolLincheckTest() {
    for (int i = 0; i < MAX_THREADS; i++) {
      mine.add(new ArrayDeque<>());
    }
  }

  @Operation
  public boolean acquire(@Param(name = "me") int me) {
    BlockLease lease = pool.tryAcquire();
    if (lease == null) {
      return false;
    }
    if (lease.buffer().getInt(0) != 0) {
      throw new AssertionError("the buffer has another holder");
    }
    lease.buffer().putInt(0, me + 1);
    mine.get(me).push(lease);
    return true;
  }

  @Operation
  public boolean release(@Param(name = "me") int me) {
    BlockLease lease = mine.get(me).poll();
    if (lease == null) {
      return false;
    }
    if (lease.buffer().getInt(0) != me + 1) {
      throw new AssertionError("somebody else wrote to the buffer");
    }
    lease.buffer().putInt(0, 0);
    lease.release();
    return true;
  }

  @Operation
  public int leased() {
    return pool.leased();
  }

  @Operation
  public void trim() {
    pool.trim();
  }

  @Operation(runOnce = true)
  public void close() {
    pool.close();
    closed = true;
  }

  @Validate
  public void budgetEqualsArenas() {
    long live = memory.bytes.get();
    if (budget.reserved() != live || pool.reservedBytes() != live) {
      throw new AssertionError(
          live + " bytes live, " + pool.reservedBytes() + " in the pool's view, " + budget);
    }
    if (closed && live > 0 && pool.leased() == 0) {
      throw new AssertionError(live + " bytes live after close and the last release");
    }
  }

  @Test
  void shortProgramsAreLinearizable() {
    new Programs(BlockPoolLincheckTest.class)
        .with("acquire release", "acquire", "acquire", "trim")
        .with("acquire", "trim", "release acquire", "trim")
        .with("acquire", "", "release", "close")
        .with("", "leased", "acquire release", "acquire leased")
        .with("acquire acquire", "acquire", "release release", "trim trim")
        .with("acquire release", "acquire", "acquire", "acquire", "close")
        .check(
            new ModelCheckingOptions()
                .addGuarantee(
                    forClasses("java.util.ArrayDeque", "java.util.ArrayList").allMethods().ignore())
                .actorsPerThread(2)
                .actorsBefore(2)
                .actorsAfter(2),
            4,
            120);
  }

  @Test
  void realThreadsAreLinearizable() {
    new Programs(BlockPoolLincheckTest.class).stress(5, 500);
  }

  /** Memory on the heap: a buffer holds 0 while it is free and -1 once its arena is freed. */
  private static final class HeapMemory implements ArenaMemory {
    final AtomicLong bytes = new AtomicLong();

    @Override
    public ByteBuffer allocate(int size) {
      bytes.addAndGet(size);
      return ByteBuffer.allocate(size);
    }

    @Override
    public void free(ByteBuffer arena) {
      for (int i = 0; i < arena.capacity(); i += BLOCK_BYTES) {
        if (arena.getInt(i) != 0) {
          throw new AssertionError("freed under a lease, or twice");
        }
        arena.putInt(i, -1);
      }
      bytes.addAndGet(-arena.capacity());
    }
  }

  /** The same calls, one at a time. */
  public static class Sequential {
    private final int[] mine = new int[MAX_THREADS];
    private int leased;
    private boolean closed;

    public boolean acquire(int me) {
      if (closed || leased == BLOCKS) {
        return false;
      }
      mine[me]++;
      leased++;
      return true;
    }

    public boolean release(int me) {
      if (mine[me] == 0) {
        return false;
      }
      mine[me]--;
      leased--;
      return true;
    }

    public int leased() {
      return leased;
    }

    public void trim() {}

    public void close() {
      closed = true;
    }
  }
}
