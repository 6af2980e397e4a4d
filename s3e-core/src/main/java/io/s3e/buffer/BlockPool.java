package io.s3e.buffer;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.StampedLock;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Buffers of one size outside the heap, cut from arenas that are reserved from a {@link
 * MemoryBudget} before they are allocated and given back to it after they are freed. Any thread may
 * call anything.
 *
 * <h2>States of a buffer</h2>
 *
 * A buffer is an index from 0 to {@code maxBlocks - 1}. At any moment it is in one of four states,
 * and the place that holds the index says which:
 *
 * <pre>
 *               grow                  pop
 *   UNUSED ------------->  FREE  ------------->  LEASED
 *     ^    (lock)         |    ^  <-------------   (a BlockLease)
 *     |                   |    |       push
 *     |     takeAll(lock) v    | push (lock, pool open)
 *     +-----------------  WITHHELD
 *        arena idle (lock)      (local to a trim; stays there once the pool is closed)
 * </pre>
 *
 * <ul>
 *   <li>UNUSED → FREE, or LEASED for the one that the grower keeps: only {@code grow}, with the
 *       lock. The index gets memory here.
 *   <li>FREE → LEASED: any acquirer that wins the pop. No lock.
 *   <li>LEASED → FREE: the owner of the lease, once, by the push. No lock.
 *   <li>FREE → WITHHELD: only a trim, with the lock, for all free buffers in one compare-and-set.
 *   <li>WITHHELD → UNUSED: the same trim, for the arenas of which it withholds every buffer. The
 *       index loses its memory here and nowhere else, so memory is freed only when every buffer of
 *       its arena has left the free stack without a lease: nobody can hold or get one of them.
 *   <li>WITHHELD → FREE: the same trim, for the rest.
 * </ul>
 *
 * <h2>Races</h2>
 *
 * <ul>
 *   <li>Acquire against a trim: the pop wins, and the arena stays; or the trim wins, and the
 *       acquirer finds the stack empty, waits for the lock, and then gets what the trim put back or
 *       a new arena. It never answers {@code null} because of buffers that a trim withholds for a
 *       moment.
 *   <li>Release against a trim: the push comes before the takeAll, and the trim sees the buffer; or
 *       after it, and the arena stays until the next trim. Nothing is waited for.
 *   <li>Release against close: the releaser pushes, then reads {@code closed}; the closer writes
 *       {@code closed}, then takes all. So the closer sees the buffer, or the releaser sees the
 *       close and trims itself. After the close what a trim withholds stays withheld, counted in
 *       its arena, so each release costs its own buffer only.
 *   <li>Acquire against close: an acquirer that read {@code closed} before it was set may still get
 *       a buffer, whose release will trim.
 *   <li>Several acquirers on an empty stack: one grows, the others wait for the lock and find its
 *       buffers. If plainly nothing can be had they are refused without the lock.
 * </ul>
 *
 * <p>The lock is held for an allocation, a trim and a release after close, never on the path of an
 * acquisition that finds a free buffer. {@code reservedBytes} equals the sum of the arenas; the
 * budget is told before an allocation and after a free, both with the lock held.
 */
public final class BlockPool implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(BlockPool.class);

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
  private final IndexStack free;
  private final IntConsumer whenReleased = this::giveBack;

  private final StampedLock lock = new StampedLock();
  private volatile boolean closed;

  // Written with the write lock held, read with the lock or in an optimistic read section. An
  // element of views is also read by whoever popped its index, whose push published it.
  private final @Nullable ByteBuffer[] views;
  private final @Nullable Arena[] arenas;
  private final int[] unused;
  private int unusedCount;
  private boolean refusalLogged;
  private boolean refused;
  private long refusedAtNanos;
  private int populated;
  private int withheld;

  // Written with the write lock held, read by anybody.
  private final AtomicLong reservedBytes = new AtomicLong();

  /**
   * An empty pool; arenas come with demand.
   *
   * @param budget where arenas are reserved
   * @param blockBytes size of each buffer, at least 1
   * @param maxBlocks the most buffers that the pool ever holds, 0 or more
   * @throws IllegalArgumentException if one of the numbers is too small
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
    this.free = new IndexStack(maxBlocks);
    this.views = new ByteBuffer[maxBlocks];
    this.arenas = new Arena[maxBlocks];
    this.unused = new int[maxBlocks];
    for (int i = 0; i < maxBlocks; i++) {
      unused[i] = maxBlocks - 1 - i;
    }
    this.unusedCount = maxBlocks;
  }

  /**
   * A buffer that nobody else holds, or {@code null} if all {@link #maxBlocks} are leased, the
   * budget (or the JVM) refuses a new arena, or the pool is closed. Waits for nothing but a trim or
   * an allocation that is under way.
   */
  public @Nullable BlockLease tryAcquire() {
    if (closed) {
      return null;
    }
    int index = free.pop();
    if (index == IndexStack.NONE) {
      index = popOrGrow();
    }
    if (index == IndexStack.NONE) {
      return null;
    }
    ByteBuffer view = views[index];
    if (view == null) {
      throw new IllegalStateException("buffer " + index + " was handed out without memory");
    }
    return new BlockLease(whenReleased, index, view.duplicate());
  }

  /** Size of each buffer in bytes. */
  public int blockBytes() {
    return blockBytes;
  }

  /** The most buffers that the pool ever holds. */
  public int maxBlocks() {
    return maxBlocks;
  }

  /** Buffers that are leased now. */
  public int leased() {
    long stamp = lock.tryOptimisticRead();
    if (stamp != 0) {
      int leased = countLeased();
      if (lock.validate(stamp)) {
        return leased;
      }
    }
    stamp = lock.readLock();
    try {
      return countLeased();
    } finally {
      lock.unlockRead(stamp);
    }
  }

  /** Buffers that could still be leased if the budget allows: {@code maxBlocks() - leased()}. */
  public int free() {
    return maxBlocks - leased();
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
  private void giveBack(int index) {
    free.push(index);
    if (closed) {
      trim();
    }
  }

  private int popOrGrow() {
    long stamp = lock.tryOptimisticRead();
    if (stamp != 0 && free.isEmpty() && !mayGrow() && lock.validate(stamp)) {
      return IndexStack.NONE;
    }
    stamp = lock.writeLock();
    try {
      if (closed) {
        return IndexStack.NONE;
      }
      int index = free.pop();
      return index != IndexStack.NONE ? index : grow();
    } finally {
      lock.unlockWrite(stamp);
    }
  }

  private boolean mayGrow() {
    return populated < maxBlocks
        && budget.available() >= blockBytes
        && !(refused && System.nanoTime() - refusedAtNanos < REFUSAL_PAUSE_NANOS);
  }

  /** Adds an arena; answers one of its buffers and makes the others free. With the write lock. */
  private int grow() {
    if (!mayGrow()) {
      return IndexStack.NONE;
    }
    int blocks = reserveBlocks();
    Arena arena = blocks == 0 ? null : allocate(blocks);
    if (arena == null) {
      return IndexStack.NONE;
    }
    reservedBytes.addAndGet(arena.bytes());
    populated += blocks;
    for (int i = 0; i < blocks; i++) {
      int index = arena.indices[i];
      arenas[index] = arena;
      views[index] = arena.memory.slice(i * blockBytes, blockBytes);
      if (i > 0) {
        free.push(index);
      }
    }
    return arena.indices[0];
  }

  /**
   * Reserves an arena from the budget: of the usual size or, near the limit, of as many blocks as
   * the budget still has, so that a budget of two blocks yields two.
   */
  private int reserveBlocks() {
    int blocks = Math.min(blocksPerArena, unusedCount);
    while (blocks > 0 && !budget.tryReserve((long) blocks * blockBytes)) {
      blocks = (int) Math.min(blocks - 1, budget.available() / blockBytes);
    }
    return blocks;
  }

  private @Nullable Arena allocate(int blocks) {
    int bytes = blocks * blockBytes;
    int[] indices = Arrays.copyOfRange(unused, unusedCount - blocks, unusedCount);
    boolean allocated = false;
    try {
      Arena arena = new Arena(memory.allocate(bytes), indices);
      allocated = true;
      refused = false;
      unusedCount -= blocks;
      return arena;
    } catch (OutOfMemoryError e) {
      refusedAtNanos = System.nanoTime();
      refused = true;
      logRefusal(bytes, e);
      return null;
    } finally {
      if (!allocated) {
        budget.release(bytes);
      }
    }
  }

  private void logRefusal(int bytes, OutOfMemoryError e) {
    if (!refusalLogged) {
      refusalLogged = true;
      LOG.warn(
          "The JVM refused {} bytes of direct memory to the {}, which holds {} bytes; reads go on"
              + " with less. Raise -XX:MaxDirectMemorySize or lower the memory budget ({} bytes)",
          bytes,
          this,
          reservedBytes.get(),
          budget.limit(),
          e);
    }
  }

  /**
   * Withholds all free buffers, discards the arenas that are idle then and puts the rest back,
   * except after close. With the write lock.
   */
  private void sweep() {
    boolean putBack = !closed;
    int[] taken = new int[populated];
    int count = 0;
    List<Arena> idle = new ArrayList<>();
    for (int i = free.takeAll(); i != IndexStack.NONE; i = free.below(i)) {
      taken[count++] = i;
      Arena arena = arenaOf(i);
      arena.withheld++;
      if (arena.isIdle()) {
        idle.add(arena);
      }
    }
    withheld += count;
    // From the bottom up, so that the most recently used buffers are on the top again.
    for (int k = count - 1; k >= 0 && putBack; k--) {
      Arena arena = arenaOf(taken[k]);
      if (!arena.isIdle()) {
        arena.withheld--;
        withheld--;
        free.push(taken[k]);
      }
    }
    idle.forEach(this::discard);
  }

  private void discard(Arena arena) {
    for (int index : arena.indices) {
      arenas[index] = null;
      views[index] = null;
      unused[unusedCount++] = index;
    }
    withheld -= arena.indices.length;
    populated -= arena.indices.length;
    memory.free(arena.memory);
    reservedBytes.addAndGet(-arena.bytes());
    budget.release(arena.bytes());
    refused = false;
  }

  private Arena arenaOf(int index) {
    Arena arena = arenas[index];
    if (arena == null) {
      throw new IllegalStateException("buffer " + index + " is free without memory");
    }
    return arena;
  }

  private int countLeased() {
    return populated - withheld - free.size();
  }
}
