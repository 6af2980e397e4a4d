package io.s3e.fetch;

import io.s3e.buffer.BlockLease;
import io.s3e.buffer.BlockPool;
import io.s3e.buffer.MemoryBudget;
import io.s3e.cache.BlockIndex;
import io.s3e.cache.Residency;
import io.s3e.client.ClientLimits;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Grants memory and concurrency to GETs before they are sent. A GET is <i>copied</i> (pooled
 * buffers, one per block, and one of the client's copied requests) or <i>lent</i> (one slot of the
 * client's memory, held until all blocks in it are dead).
 *
 * <p><b>The demand reserve</b> is the progress rule. Speculation never takes the last eighth (at
 * least one) of the pooled buffers, of the copied requests or of the lent slots, never waits, and
 * never evicts what nobody has read yet. A reader that waits needs one pooled buffer and one copied
 * request, no more. It takes them from what is free, then evicts blocks that have been read, then
 * blocks that were fetched and not read, oldest first. Whatever else holds a buffer gives it back
 * by itself: a pin lasts one copy, and a GET has a deadline. Where the JVM's budget is held by
 * other engines, the reader asks them to {@linkplain #giveBack give back} what they only keep. So
 * every reader that waits is served as long as there are two pooled buffers in all. Readers hold no
 * pin while they wait here.
 *
 * <p>Nothing here takes a lock. Waiting readers stand in a queue and are woken when memory or
 * concurrency comes back; each looks again at least every {@value #RECHECK_MILLIS} ms.
 */
final class Admission implements MemoryBudget.Holder {
  private static final long RECHECK_MILLIS = 20;
  private static final int RESERVE_SHARE = 8;

  private final MemoryBudget budget;
  private final BlockPool pool;
  private final int reservedBuffers;
  private final Residency pooled;
  private final Lane copies;
  private final Lane slots;
  private final Residency lent;
  private final int slotBytes;
  private final Queue<Thread> waiting = new ConcurrentLinkedQueue<>();

  Admission(MemoryBudget budget, BlockPool pool, ClientLimits limits, BlockIndex index) {
    this.budget = budget;
    this.pool = pool;
    this.reservedBuffers = reserve(pool.maxBlocks());
    this.pooled = new Residency(index, (long) pool.maxBlocks() * pool.blockBytes());
    this.copies = new Lane(limits.copyRequests());
    this.slots = new Lane(limits.lentSlots());
    this.slotBytes = limits.lentSlotBytes();
    this.lent = new Residency(index, (long) limits.lentSlots() * limits.lentSlotBytes());
  }

  private static int reserve(int capacity) {
    return capacity <= 1 ? 0 : Math.max(1, capacity / RESERVE_SHARE);
  }

  /** Which slabs of pooled buffers stay. */
  Residency pooled() {
    return pooled;
  }

  /** Which lent slots stay. */
  Residency lent() {
    return lent;
  }

  /** Bytes that speculation may hold at most, over both kinds of memory. */
  long speculativeBytes() {
    return (long) (pool.maxBlocks() - reservedBuffers) * pool.blockBytes()
        + (long) slots.forSpeculation() * slotBytes;
  }

  /** A lent slot, if one is free or can be made free at once; null otherwise. */
  @Nullable Grant tryLend(boolean speculative) {
    for (; ; ) {
      if (slots.tryEnter(speculative)) {
        return new Grant(List.of(), slots);
      }
      if (!lent.evictRead() && (speculative || !lent.evictUnread())) {
        return null;
      }
    }
  }

  /**
   * Buffers for a copied GET, if they are free or can be made free at once.
   *
   * @param blocks how many are wanted; speculation gets all of them or nothing, a reader at least
   *     one
   */
  @Nullable Grant tryCopy(int blocks, boolean speculative) {
    if (!copies.tryEnter(speculative)) {
      return null;
    }
    List<BlockLease> leases = new ArrayList<>(blocks);
    while (leases.size() < blocks) {
      BlockLease lease = tryBuffer(speculative);
      if (lease == null) {
        break;
      }
      leases.add(lease);
    }
    if (leases.isEmpty() || (speculative && leases.size() < blocks)) {
      leases.forEach(BlockLease::release);
      copies.leave();
      wakeOne();
      return null;
    }
    return new Grant(leases, copies);
  }

  private @Nullable BlockLease tryBuffer(boolean speculative) {
    for (; ; ) {
      if (!speculative || pool.free() > reservedBuffers) {
        BlockLease lease = pool.tryAcquire();
        if (lease != null) {
          return lease;
        }
      }
      if (!pooled.evictRead() && (speculative || !pooled.evictUnread())) {
        return null;
      }
    }
  }

  /**
   * Buffers for the GET that a reader waits for; waits for at least one.
   *
   * @param deadline by {@link System#nanoTime()}
   * @return null if the deadline passed or {@code handle} was closed
   */
  @Nullable Grant awaitCopy(int blocks, ObjectHandle handle, long deadline)
      throws InterruptedException {
    Grant grant = tryCopy(blocks, false);
    if (grant != null) {
      return grant;
    }
    Thread self = Thread.currentThread();
    waiting.add(self);
    try {
      for (; ; ) {
        grant = tryCopy(blocks, false);
        if (grant != null || handle.isClosed()) {
          return grant;
        }
        long left = deadline - System.nanoTime();
        if (left <= 0) {
          return null;
        }
        if (pool.leased() < pool.maxBlocks()) {
          budget.reclaim(pool.blockBytes(), this);
        }
        LockSupport.parkNanos(this, Math.min(left, TimeUnit.MILLISECONDS.toNanos(RECHECK_MILLIS)));
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
      }
    } finally {
      waiting.remove(self);
    }
  }

  /** Gives a pooled buffer back when its block is dead. */
  void release(BlockLease lease) {
    lease.release();
    wakeOne();
  }

  /** Gives a lent slot back when all blocks in it are dead. */
  void releaseSlot() {
    slots.leave();
    wakeOne();
  }

  private void wakeOne() {
    Thread first = waiting.peek();
    if (first != null) {
      LockSupport.unpark(first);
    }
  }

  /** Evicts until so much is free that the pool can do without, and lets the pool shrink. */
  @Override
  public void giveBack(long bytes) {
    long target = Math.max(0, pool.reservedBytes() - bytes);
    // A slab goes back only when all of its blocks are free, so evict in growing steps.
    for (int step = 1; pool.reservedBytes() > target; step *= 2) {
      boolean evicted = false;
      for (int i = 0; i < step; i++) {
        evicted |= pooled.evictRead() || pooled.evictUnread();
      }
      pool.trim();
      if (!evicted) {
        return;
      }
    }
  }

  /** Evicts everything, now and from now on; what readers have pinned goes when the pin ends. */
  void close() {
    budget.unregister(this);
    pooled.close();
    lent.close();
  }

  /** A bounded number of GETs under way, with a reserve that speculation does not touch. */
  private static final class Lane {
    private final int capacity;
    private final AtomicInteger free;

    Lane(int capacity) {
      this.capacity = capacity;
      this.free = new AtomicInteger(capacity);
    }

    int forSpeculation() {
      return capacity - reserve(capacity);
    }

    boolean tryEnter(boolean speculative) {
      int keep = speculative ? reserve(capacity) : 0;
      for (; ; ) {
        int now = free.get();
        if (now <= keep) {
          return false;
        }
        if (free.compareAndSet(now, now - 1)) {
          return true;
        }
      }
    }

    void leave() {
      int now = free.incrementAndGet();
      if (now > capacity) {
        throw new IllegalStateException("left a lane of " + capacity + " more often than entered");
      }
    }
  }

  /**
   * What one GET was granted. Owned by its {@link RunFetch}, which hands the memory on to the
   * blocks or gives it back, and ends the concurrency of a copied GET when the GET ends.
   */
  final class Grant {
    private final List<BlockLease> leases;
    private final Lane lane;

    private Grant(List<BlockLease> leases, Lane lane) {
      this.leases = leases;
      this.lane = lane;
    }

    /** Whether the GET gets the client's own buffer; the slot then lives as long as its blocks. */
    boolean isLent() {
      return leases.isEmpty();
    }

    /** One buffer per block, in order; empty if lent. */
    List<BlockLease> leases() {
      return leases;
    }

    /** A copied GET is over, or a lent one ended without having been given a buffer. */
    void leaveLane() {
      lane.leave();
      wakeOne();
    }
  }
}
