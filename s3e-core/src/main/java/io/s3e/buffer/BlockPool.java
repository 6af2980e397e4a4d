// SPDX-License-Identifier: Apache-2.0
package io.s3e.buffer;

import io.s3e.buffer.Arena.Buffer;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.StampedLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Buffers of one size outside the heap, cut from arenas that are reserved from a {@link
 * MemoryBudget} before they are allocated and given back to it after they are freed. Any thread may
 * call anything.
 *
 * <h2>States of a buffer</h2>
 *
 * <pre>
 *         grow (lock)             claim
 *   none -------------&gt;  FREE  -------------&gt;  LEASED
 *     ^                  |    ^  &lt;-------------   (a BlockLease)
 *     |                  |    |      push
 *     |       trim (lock) v    | push (lock, pool open)
 *     +-----------------  WITHHELD
 *       arena idle (lock)      (local to a trim; stays there once the pool is closed)
 * </pre>
 *
 * <p>{@code counts} is how many buffers are FREE and how many LEASED, in one word. The free ones
 * lie in {@code free}, the most recently used one first. Who adds a buffer pushes it first and
 * counts it afterwards; who takes one counts it off first, by a compare-and-set, and has then
 * claimed one of those that lie there. So {@code free} never holds fewer buffers than are counted
 * and claimed, and each claim finds one. The counts are the truth: a change of them is the moment
 * at which a buffer changes its state.
 *
 * <ul>
 *   <li>FREE → LEASED: any acquirer that wins a claim. LEASED → FREE: the owner of the lease, once.
 *       No lock.
 *   <li>FREE → WITHHELD: only a trim, with the lock, for all free buffers by one step of the count.
 *       The trim frees the arenas of which it withholds every buffer, which nobody can hold or get
 *       then, and makes the rest FREE again.
 * </ul>
 *
 * <h2>Races</h2>
 *
 * <ul>
 *   <li>Acquire against a trim: the claim wins, and the arena stays; or the trim wins, and the
 *       acquirer waits for the lock, and then gets what the trim put back or a new arena: never
 *       {@code null} because of buffers that a trim withholds for a moment.
 *   <li>Release against a trim: the trim sees the buffer, or the arena stays until the next one.
 *   <li>Release against close: the releaser counts its buffer, then reads {@code closed}; the
 *       closer writes {@code closed}, then takes all. So the closer sees the buffer, or the
 *       releaser sees the close and trims itself. After the close what a trim withholds stays
 *       withheld, counted in its arena, so each release costs its own buffer only.
 *   <li>Acquire against close: an acquirer that read {@code closed} before it was set may still get
 *       a buffer, whose release will trim.
 *   <li>Several acquirers while nothing is free: one grows, the others wait for the lock and find
 *       its buffers. If plainly nothing can be had they are refused without the lock.
 * </ul>
 *
 * <p>The lock is held for an allocation, a trim and a release after close, never on the path of an
 * acquisition that finds a free buffer. {@code reservedBytes} equals the sum of the arenas; the
 * budget is told before an allocation and after a free, both with the lock held.
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

  /** What a leased buffer adds to {@code counts}; a free one adds 1. */
  private static final long ONE_LEASED = 1L << Integer.SIZE;

  private final MemoryBudget budget;
  private final int blockBytes;
  private final int maxBlocks;
  private final int blocksPerArena;
  private final ArenaMemory memory;
  private final Deque<Buffer> free = new ConcurrentLinkedDeque<>();
  private final AtomicLong counts = new AtomicLong();
  private final Consumer<Buffer> whenReleased = this::giveBack;
  private final StampedLock lock = new StampedLock();
  private volatile boolean closed;

  // Written with the write lock held, read with the lock or in an optimistic read section.
  private boolean refused;
  private long refusedAtNanos;

  // Written with the write lock held, read by anybody.
  private final AtomicLong reservedBytes = new AtomicLong();

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
    Buffer buffer = closed ? null : claim();
    if (buffer == null && !closed) {
      buffer = claimOrGrow();
    }
    return buffer == null ? null : new BlockLease(whenReleased, buffer);
  }

  /** A free buffer; null if none is counted. */
  private @Nullable Buffer claim() {
    for (long now = counts.get(); freeIn(now) > 0; now = counts.get()) {
      if (counts.compareAndSet(now, now + ONE_LEASED - 1)) {
        return free.removeFirst();
      }
    }
    return null;
  }

  public int blockBytes() {
    return blockBytes;
  }

  public int maxBlocks() {
    return maxBlocks;
  }

  public int leased() {
    return (int) (counts.get() / ONE_LEASED);
  }

  private static int freeIn(long counts) {
    return (int) counts;
  }

  /** Buffers that have memory, as long as no trim withholds any. */
  private int populated() {
    long now = counts.get();
    return (int) (now / ONE_LEASED) + freeIn(now);
  }

  /** Bytes that the pool holds from the budget: the sum of its arenas. */
  public long reservedBytes() {
    return reservedBytes.get();
  }

  /**
   * Frees the memory of every arena of which no buffer is leased, and gives it back to the budget.
   * Holds the pool's lock meanwhile.
   */
  public void trim() {
    long stamp = lock.writeLock();
    try {
      sweep();
    } finally {
      lock.unlockWrite(stamp);
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
    push(buffer, 1 - ONE_LEASED);
    if (closed) {
      trim();
    }
  }

  private void push(Buffer buffer, long change) {
    free.addFirst(buffer);
    counts.addAndGet(change);
  }

  private @Nullable Buffer claimOrGrow() {
    long stamp = lock.tryOptimisticRead();
    if (stamp != 0 && freeIn(counts.get()) == 0 && !mayGrow() && lock.validate(stamp)) {
      return null;
    }
    stamp = lock.writeLock();
    try {
      if (closed) {
        return null;
      }
      Buffer buffer = claim();
      return buffer != null ? buffer : grow();
    } finally {
      lock.unlockWrite(stamp);
    }
  }

  private boolean mayGrow() {
    return populated() < maxBlocks
        && budget.available() >= blockBytes
        && !(refused && System.nanoTime() - refusedAtNanos < REFUSAL_PAUSE_NANOS);
  }

  /** Adds an arena; answers one of its buffers and makes the others free. With the write lock. */
  private @Nullable Buffer grow() {
    int blocks = mayGrow() ? reserveBlocks() : 0;
    Arena arena = blocks == 0 ? null : allocate(blocks);
    if (arena == null) {
      return null;
    }
    reservedBytes.addAndGet(arena.bytes());
    for (int i = 1; i < blocks; i++) {
      push(arena.buffer(i, blockBytes), 1);
    }
    counts.addAndGet(ONE_LEASED);
    return arena.buffer(0, blockBytes);
  }

  /**
   * Reserves an arena from the budget: of the usual size or, near the limit, of as many blocks as
   * the budget still has, so that a budget of two blocks yields two.
   */
  private int reserveBlocks() {
    int blocks = Math.min(blocksPerArena, maxBlocks - populated());
    while (blocks > 0 && !budget.tryReserve((long) blocks * blockBytes)) {
      blocks = (int) Math.min(blocks - 1, budget.available() / blockBytes);
    }
    return blocks;
  }

  private @Nullable Arena allocate(int blocks) {
    int bytes = blocks * blockBytes;
    Arena arena = null;
    try {
      arena = new Arena(memory.allocate(bytes), blocks);
      refused = false;
    } catch (OutOfMemoryError e) {
      // Reads go on with less; DirectMemory has said so.
      refusedAtNanos = System.nanoTime();
      refused = true;
    } finally {
      if (arena == null) {
        budget.release(bytes);
      }
    }
    return arena;
  }

  /**
   * Withholds all free buffers, discards the arenas that are idle then and puts the rest back,
   * except after close. With the write lock.
   */
  private void sweep() {
    List<Buffer> taken = new ArrayList<>();
    List<Arena> idle = new ArrayList<>();
    long before = counts.getAndUpdate(now -> now - freeIn(now));
    for (int left = freeIn(before); left > 0; left--) {
      Buffer buffer = free.removeFirst();
      taken.add(buffer);
      buffer.arena().withheld++;
      if (buffer.arena().isIdle()) {
        idle.add(buffer.arena());
      }
    }
    // From the bottom up, so that the most recently used buffers are on the top again.
    for (int k = taken.size() - 1; k >= 0 && !closed; k--) {
      Buffer buffer = taken.get(k);
      if (!buffer.arena().isIdle()) {
        buffer.arena().withheld--;
        push(buffer, 1);
      }
    }
    idle.forEach(this::discard);
  }

  private void discard(Arena arena) {
    memory.free(arena.memory);
    reservedBytes.addAndGet(-arena.bytes());
    budget.release(arena.bytes());
    refused = false;
  }
}
