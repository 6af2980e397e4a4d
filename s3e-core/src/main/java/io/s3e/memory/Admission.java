package io.s3e.memory;

import io.s3e.buffer.BlockLease;
import io.s3e.buffer.BlockPool;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.client.RequestFailure;
import io.s3e.memory.Residency.Idle;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Grants memory and concurrency to GETs before they are sent. A GET is <i>copied</i> (pooled
 * buffers, one per block, and one of the client's copied requests) or <i>lent</i> (one slot of the
 * client's memory, held until all blocks in it are dead).
 *
 * <p><b>The demand reserve</b> is the progress rule. Speculation never takes the last eighth (at
 * least one) of the pooled buffers, of the copied requests or of the lent slots, never waits, and
 * never evicts what somebody is about to read. A reader that waits needs one pooled buffer and one
 * copied request, no more. It takes them from what is free, then evicts blocks that have been read,
 * then blocks that were fetched and not read, oldest first. Whatever else holds a buffer gives it
 * back by itself: a pin lasts one copy, and a GET has a deadline. Where the JVM's budget is held by
 * other engines, the reader asks them to {@linkplain #giveBack give back} what they only keep. So
 * every reader that waits is served as long as there are two pooled buffers in all. Readers hold no
 * pin while they wait here.
 *
 * <p>A lent slot with bytes that are still to be read is taken by another reader only if its own is
 * {@linkplain Idle#BRIEFLY idle}: the other has the copied requests meanwhile, and slots that
 * readers take from each other are fetched twice. Of a reader that is idle {@linkplain Idle#LONG
 * for long} it is the first to go, for guesses too: a stream that was opened, ran ahead and was
 * forgotten must not hold the slots that others need to run ahead.
 *
 * <p>A guess that is worth a slot gets a slot or nothing. A reader that wants a slot waits for one
 * a few ms and has a copied request then; who stands behind it waits no longer than that.
 *
 * <p>A client may stop lending while it lives (its memory was refused, or another client reads in
 * its place). It says so by failing a lent GET with {@link RequestFailure.Kind#NOT_LENT}; {@link
 * #pauseLending} then makes every grant a copied one for a minute.
 *
 * <p>Nothing here takes a lock. Readers that find nothing stand in a queue and are served in order;
 * speculation gets nothing while one waits. The first in the queue is woken when memory or
 * concurrency comes back and looks again at least every {@value #RECHECK_MILLIS} ms.
 */
public final class Admission implements MemoryBudget.Holder {
  private static final long RECHECK_MILLIS = 20;

  /**
   * A slot comes back every 2 ms or so while readers are fast. To wait for one is cheaper than to
   * fetch an eighth of it by copying; to wait for long is not, for slow readers may hold them all.
   */
  private static final long SLOT_PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private static final int RESERVE_SHARE = 8;

  /**
   * To ask again costs a GET that fails at once; rates without slots are about half of those with.
   */
  private static final long LENDING_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(60);

  private final MemoryBudget budget;
  private final BlockPool pool;
  private final int reservedBuffers;
  private final Residency pooled;
  private final Lane copies;
  private final Lane slots;
  private final Residency lent;
  private final int slotBytes;
  private final Queue<Thread> waiting = new ConcurrentLinkedQueue<>();

  /** By {@link System#nanoTime()}; no slot is granted before. */
  private volatile long lendsFromNanos = System.nanoTime();

  public Admission(
      MemoryBudget budget, BlockPool pool, ClientLimits limits, BlockIndex index, Spill spill) {
    this.budget = budget;
    this.pool = pool;
    this.reservedBuffers = reserve(pool.maxBlocks());
    this.pooled = new Residency(index, System::nanoTime, this::wakeFirst, spill);
    this.copies = new Lane(limits.copyRequests());
    this.slots = new Lane(limits.lentSlots());
    this.slotBytes = limits.lentSlotBytes();
    this.lent = new Residency(index, System::nanoTime, this::wakeFirst, spill);
  }

  private static int reserve(int capacity) {
    return capacity <= 1 ? 0 : Math.max(1, capacity / RESERVE_SHARE);
  }

  /** Which slabs of pooled buffers stay. */
  public Residency pooled() {
    return pooled;
  }

  /** Which lent slots stay. */
  public Residency lent() {
    return lent;
  }

  /** Bytes that long guesses may hold at most: slots, or pooled buffers where nothing is lent. */
  public long speculativeBytes() {
    return lends()
        ? (long) slots.forSpeculation() * slotBytes
        : (long) (pool.maxBlocks() - reservedBuffers) * pool.blockBytes();
  }

  /**
   * What a GET needs.
   *
   * @param copiedBlocks pooled buffers that it fills if it is copied
   * @param kind what serves it best
   */
  public record Need(int copiedBlocks, Kind kind) {
    private boolean isLong() {
      return kind == Kind.LONG;
    }
  }

  /** What kind of memory serves a run best. */
  public enum Kind {
    /** Pooled buffers, or else a lent slot. */
    SHORT,
    /** A lent slot, because a copied request would bring only a part. */
    LONG,
    /** Pooled buffers and nothing else: its bytes are on disk, and a client lends only its own. */
    ON_DISK
  }

  /** How many long guesses may be in flight at once. */
  public int speculativeRequests() {
    return lends() ? slots.forSpeculation() : copies.forSpeculation();
  }

  /** Whether a long guess would be refused now. */
  public boolean isCrowded() {
    return lends() && (!waiting.isEmpty() || !hasSlotAhead());
  }

  private boolean hasSlotAhead() {
    return slots.hasRoomAhead(0) || slots.hasRoomAhead(lent.spareSlabs(Idle.LONG));
  }

  /** What is free for a guess, or can be made free at once; null otherwise. Never waits. */
  public @Nullable Grant trySpeculate(Need need) {
    // A guess that finds no slot is not worth buffers for its first part: those serve readers.
    boolean mayCopy = !need.isLong() || !lends();
    return waiting.isEmpty() ? tryGrant(need, true, mayCopy) : null;
  }

  private @Nullable Grant tryGrant(Need need, boolean speculative, boolean mayCopy) {
    Grant grant = need.isLong() ? tryLend(speculative) : null;
    if (grant == null && mayCopy) {
      grant = tryCopy(need.copiedBlocks(), speculative);
    }
    // A short run wastes most of a slot, but an idle slot is all waste.
    return grant == null && need.kind() == Kind.SHORT ? tryLend(speculative) : grant;
  }

  private @Nullable Grant tryLend(boolean speculative) {
    // To evict what would not be enough is to evict for nothing.
    if (!lends() || (speculative && !hasSlotAhead())) {
      return null;
    }
    for (; ; ) {
      if (slots.tryEnter(speculative)) {
        return new Grant(List.of(), slots);
      }
      boolean evicted =
          lent.evictIdle(Idle.LONG)
              || lent.evictRead()
              || (!speculative && lent.evictIdle(Idle.BRIEFLY));
      if (!evicted) {
        return null;
      }
    }
  }

  /**
   * @param blocks how many are wanted; speculation gets all of them or nothing, a reader at least
   *     one
   */
  private @Nullable Grant tryCopy(int blocks, boolean speculative) {
    if (!copies.tryEnter(speculative)) {
      return null;
    }
    List<BlockLease> leases = new ArrayList<>(blocks);
    while (leases.size() < blocks) {
      // A reader needs one buffer; for the others it does not take what is still to be read.
      BlockLease lease = tryBuffer(speculative, !speculative && leases.isEmpty());
      if (lease == null) {
        break;
      }
      leases.add(lease);
    }
    if (leases.isEmpty() || (speculative && leases.size() < blocks)) {
      leases.forEach(BlockLease::release);
      copies.leave();
      wakeFirst();
      return null;
    }
    return new Grant(leases, copies);
  }

  private @Nullable BlockLease tryBuffer(boolean speculative, boolean mayEvictUnread) {
    for (; ; ) {
      if (!speculative || pool.free() > reservedBuffers) {
        BlockLease lease = pool.tryAcquire();
        if (lease != null) {
          return lease;
        }
      }
      if (!pooled.evictRead() && !(mayEvictUnread && pooled.evictUnread())) {
        return null;
      }
    }
  }

  /**
   * What the GET needs that a reader waits for: a slot, or at least one buffer.
   *
   * @param deadline by {@link System#nanoTime()}
   * @param givenUp whether the reader wants it no more; asked now and then
   * @return null if the deadline passed or the reader has given up
   */
  public @Nullable Grant await(Need need, BooleanSupplier givenUp, long deadline)
      throws InterruptedException {
    boolean prefersSlot = need.isLong() && lends();
    Grant grant = waiting.isEmpty() ? tryGrant(need, false, !prefersSlot) : null;
    if (grant != null) {
      return grant;
    }
    long slotDeadline = System.nanoTime() + SLOT_PATIENCE_NANOS;
    Thread self = Thread.currentThread();
    waiting.add(self);
    try {
      for (; ; ) {
        boolean isFirst = waiting.peek() == self;
        long now = System.nanoTime();
        long patience = prefersSlot ? slotDeadline - now : 0;
        grant = isFirst ? grantFirst(need, patience <= 0) : null;
        if (grant != null || givenUp.getAsBoolean()) {
          return grant;
        }
        long left = patience > 0 ? Math.min(patience, deadline - now) : deadline - now;
        if (left <= 0) {
          return null;
        }
        LockSupport.parkNanos(this, Math.min(left, TimeUnit.MILLISECONDS.toNanos(RECHECK_MILLIS)));
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
      }
    } finally {
      waiting.remove(self);
      // What this one did not take, or has no use for any more, is the next one's.
      wakeFirst();
    }
  }

  /** What the first in the queue gets, out of what other engines only keep if need be. */
  private @Nullable Grant grantFirst(Need need, boolean mayCopy) {
    Grant grant = tryGrant(need, false, mayCopy);
    if (grant != null || !mayCopy || pool.leased() >= pool.maxBlocks()) {
      return grant;
    }
    budget.reclaim(pool.blockBytes(), this);
    return tryGrant(need, false, true);
  }

  /**
   * Buffers in the place of a slot that was granted for {@code blocks} blocks and not used: what
   * was to be lent has been found on disk. Null if there are none; the slot stays granted then.
   */
  public @Nullable Grant exchange(Grant lentGrant, int blocks, boolean speculative) {
    Grant copied = tryCopy(blocks, speculative);
    if (copied == null) {
      return null;
    }
    if (copied.leases().size() < blocks) {
      copied.leases().forEach(BlockLease::release);
      copied.leaveLane();
      return null;
    }
    lentGrant.leaveLane();
    return copied;
  }

  /** Whether slots are granted now. */
  public boolean lends() {
    return slots.capacity > 0 && System.nanoTime() - lendsFromNanos >= 0;
  }

  /** The client has said that it lends nothing for now. */
  public void pauseLending() {
    lendsFromNanos = System.nanoTime() + LENDING_PAUSE_NANOS;
  }

  /** How many readers stand in the queue. */
  public int waitingReaders() {
    return waiting.size();
  }

  /** Gives a pooled buffer back when its block is dead. */
  public void release(BlockLease lease) {
    lease.release();
    wakeFirst();
  }

  /** Gives a lent slot back when all blocks in it are dead. */
  public void releaseSlot() {
    slots.leave();
    wakeFirst();
  }

  private void wakeFirst() {
    Thread first = waiting.peek();
    // The first itself looks again after it has evicted; to wake it here would make it spin.
    if (first != null && first != Thread.currentThread()) {
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
  public void close() {
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

    /** Whether speculation could enter once {@code more} have left. */
    boolean hasRoomAhead(long more) {
      return free.get() + more > reserve(capacity);
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
   * What one GET was granted. Owned by its run, which hands the memory on to the blocks or gives it
   * back, and ends the concurrency of a copied GET when the GET ends.
   */
  public final class Grant {
    private final List<BlockLease> leases;
    private final Lane lane;

    private Grant(List<BlockLease> leases, Lane lane) {
      this.leases = leases;
      this.lane = lane;
    }

    /** Whether the GET gets the client's own buffer; the slot then lives as long as its blocks. */
    public boolean isLent() {
      return leases.isEmpty();
    }

    /** One buffer per block, in order; empty if lent. */
    public List<BlockLease> leases() {
      return leases;
    }

    /** A copied GET is over, or a lent one ended without having been given a buffer. */
    public void leaveLane() {
      lane.leave();
      wakeFirst();
    }
  }
}
