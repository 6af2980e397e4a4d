// SPDX-License-Identifier: Apache-2.0
package io.s3e.buffer;

import io.s3e.buffer.Arena.Buffer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Buffers of one size outside the heap, cut from arenas that are reserved from a {@link
 * MemoryBudget} before they are allocated and given back to it after they are freed. Any thread may
 * call anything.
 *
 * <p><b>States of a buffer.</b> {@code none → FREE ⇄ LEASED}, and from FREE back to none with all
 * buffers of its arena, once none of them is leased: by a trim, and after the close by a release.
 *
 * <p><b>Locks.</b> The lock of the {@code free} buffers guards their states, and is held for a few
 * instructions, or a walk over them by a trim. The lock {@code resizing} is held while memory is
 * allocated or freed, and taken first: acquirers who find nothing free wait for the one that grows,
 * and find its buffers, or for a trim, and find what it has given back. Releases do not wait for
 * it.
 *
 * <p><b>Close.</b> An acquirer that meets it may still get a buffer, whose release frees the arena.
 */
public final class BlockPool implements AutoCloseable {
  /**
   * An arena is about this large, in bytes, or one block if that is larger. Large enough that an
   * allocation (a system call and zeroing, some 100 µs) is rare beside the filling of its buffers,
   * small enough that a few leases left in many arenas hold back little memory from a trim.
   */
  private static final int ARENA_BYTES = 1 << 20;

  /**
   * How long to leave the JVM alone after it refused direct memory. Each refusal costs a full
   * collection and about half a second of waiting inside the JDK.
   */
  private static final long REFUSAL_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final MemoryBudget budget;
  private final int blockBytes;
  private final int maxBlocks;
  private final int blocksPerArena;
  private final ArenaMemory memory;
  private final Consumer<Buffer> whenReleased = this::giveBack;

  /** The most recently used one last; has room for all. Guards itself. */
  private final ArrayList<Buffer> free = new ArrayList<>();

  /** Written with the lock of {@code free}. */
  private volatile int leased;

  private volatile boolean closed;
  private final Object resizing = new Object();

  // Written with the lock of resizing.
  /** Buffers of all arenas; read by anybody. */
  private volatile int populated;

  /** Whether the JVM had no memory, and has been given none back since. */
  private volatile boolean refused;

  private volatile long refusedAtNanos;

  /**
   * An empty pool; arenas come with demand.
   *
   * @throws IllegalArgumentException if {@code blockBytes} is less than 1, or {@code maxBlocks}
   *     than 0
   */
  public BlockPool(MemoryBudget budget, int blockBytes, int maxBlocks) {
    this(budget, blockBytes, maxBlocks, ARENA_BYTES, DirectMemory.INSTANCE);
  }

  BlockPool(
      MemoryBudget budget, int blockBytes, int maxBlocks, int arenaBytes, ArenaMemory memory) {
    if (blockBytes < 1) {
      throw new IllegalArgumentException("block size " + blockBytes + " is not at least 1 byte");
    }
    if (maxBlocks < 0) {
      throw new IllegalArgumentException("maximum of " + maxBlocks + " blocks is negative");
    }
    this.budget = budget;
    this.blockBytes = blockBytes;
    this.maxBlocks = maxBlocks;
    this.blocksPerArena = Math.max(1, arenaBytes / blockBytes);
    this.memory = memory;
  }

  /**
   * A buffer that nobody else holds, or {@code null} if all {@link #maxBlocks} are leased, the
   * budget (or the JVM) refuses a new arena, or the pool is closed. Waits for nothing but a trim or
   * an allocation that is under way.
   */
  public @Nullable BlockLease tryAcquire() {
    BlockLease lease = take();
    return lease == null && !closed ? grow() : lease;
  }

  private @Nullable BlockLease take() {
    synchronized (free) {
      // Looked at with the lock, for which a trim at the end waits.
      if (closed || free.isEmpty()) {
        return null;
      }
      // First: where the heap has no room for it, the buffer stays free.
      BlockLease lease = new BlockLease(whenReleased, free.get(free.size() - 1));
      free.remove(free.size() - 1).arena().leased++;
      leased++;
      return lease;
    }
  }

  public int blockBytes() {
    return blockBytes;
  }

  public int maxBlocks() {
    return maxBlocks;
  }

  public int leased() {
    return leased;
  }

  /** Bytes that the pool holds from the budget: the sum of its arenas. */
  public long reservedBytes() {
    return (long) populated * blockBytes;
  }

  /**
   * Frees the memory of every arena of which no buffer is leased, and gives it back to the budget.
   */
  public void trim() {
    synchronized (resizing) {
      List<Arena> idle;
      synchronized (free) {
        idle =
            free.stream().map(Buffer::arena).filter(arena -> arena.leased == 0).distinct().toList();
        free.removeIf(buffer -> buffer.arena().leased == 0);
      }
      for (Arena arena : idle) {
        memory.free(arena.memory);
        populated -= arena.buffers.size();
        budget.release(arena.memory.capacity());
        refused = false;
      }
    }
  }

  /**
   * Ends the handing out of buffers and trims. Arenas with leases are freed as the last lease of
   * each is released. Idempotent.
   */
  @Override
  public void close() {
    closed = true;
    trim();
  }

  @Override
  public String toString() {
    return "pool of at most " + maxBlocks + " buffers of " + blockBytes + " bytes";
  }

  /** Takes back the buffer of a lease that has just become released. */
  private void giveBack(Buffer buffer) {
    synchronized (free) {
      leased--;
      buffer.arena().leased--;
      free.add(buffer);
    }
    if (closed) {
      trim();
    }
  }

  /** Whether the JVM has refused memory of late: the pool has no more than it holds. */
  public boolean isRefused() {
    return refused && System.nanoTime() - refusedAtNanos < REFUSAL_PAUSE_NANOS;
  }

  /** Adds an arena, if it may and no other thread has meanwhile, and leases a buffer of it. */
  private @Nullable BlockLease grow() {
    synchronized (resizing) {
      BlockLease lease = take();
      int blocks = lease != null || closed || isRefused() ? 0 : reserveBlocks();
      if (blocks > 0) {
        add(blocks);
      }
      return lease == null ? take() : lease;
    }
  }

  /** Adds an arena of blocks that are reserved; if the JVM has no memory, they are no more. */
  private void add(int blocks) {
    ByteBuffer allocated = null;
    boolean isIn = false;
    try {
      allocated = memory.allocate(blocks * blockBytes);
      Arena arena = new Arena(allocated, blockBytes);
      synchronized (free) {
        free.ensureCapacity(populated + blocks);
        isIn = free.addAll(arena.buffers);
        populated += blocks;
      }
    } catch (OutOfMemoryError e) {
      // Reads go on with less; DirectMemory has said so.
      refusedAtNanos = System.nanoTime();
      refused = true;
    } finally {
      if (!isIn && allocated != null) {
        memory.free(allocated);
      }
      if (!isIn) {
        budget.release((long) blocks * blockBytes);
      }
    }
  }

  /**
   * Reserves an arena from the budget: of the usual size or, near the limit, of as many blocks as
   * the budget still has, so that a budget of two blocks yields two.
   */
  private int reserveBlocks() {
    int blocks = Math.min(blocksPerArena, maxBlocks - populated);
    while (blocks > 0 && !budget.tryReserve((long) blocks * blockBytes)) {
      blocks = (int) Math.min(blocks - 1, budget.available() / blockBytes);
    }
    return blocks;
  }
}
