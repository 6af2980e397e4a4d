// SPDX-License-Identifier: Apache-2.0
package io.s3e.memory;

import io.s3e.buffer.BlockLease;
import io.s3e.buffer.BlockPool;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.memory.IdleSlabs.Idle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Grants memory and concurrency to GETs before they are sent, for all tenants of an engine. A GET
 * is <i>copied</i> (pooled buffers, one for each block, and a place in the {@link Carrier}'s lane
 * of copied requests) or <i>lent</i> (one slot of the client's memory, held until all blocks in it
 * are dead, or until the bytes of a short run have passed on to pooled buffers of its own). To
 * grant is to reserve: what is granted is there.
 *
 * <p><b>Progress.</b> A reader that waits needs one pooled buffer and one copied request, no more.
 * It takes them from what is free, then evicts blocks that have been read, those that are still to
 * be written to disk last, then blocks that were fetched and not read, oldest first. Guesses, and
 * what a reader takes beyond its first buffer, leave an eighth of the pool alone, and what is not
 * read unless its reader is {@linkplain Idle#LONG idle for long}; what is to be written to disk
 * refuses nobody; guesses never wait. {@link Lane} keeps an eighth of the requests. Other holders
 * of a buffer give it back by themselves: a pin lasts one copy, a GET has a deadline, and a run
 * that waits for long to be sent again ends where a reader of another tenant lacks memory. Readers
 * hold no pin while they wait here. So every reader is served as long as there are two buffers in
 * all, whatever hangs for another tenant. What a reader {@linkplain Purpose#ASKED has asked for}
 * and does not wait for yet is held to the limits of guesses, and never revoked. A {@linkplain
 * Purpose#HEDGE hedge} takes a place as a reader does, and memory as a guess does.
 *
 * <p><b>Bulkheads.</b> {@link ObjectPlaces} says how many copied requests an object may have; a
 * reader of one that may have no more waits aside of those of others. An object that does not
 * answer is lent no slot until it does. A GET that is {@linkplain Grant#overdue overdue}, or has
 * failed and {@linkplain Grant#pause pauses}, leaves its place to others. Slots are memory and come
 * back with the GETs in them; a reader that finds none has a copied request. Where readers
 * {@linkplain #isStarving starve}, what is late is given up.
 *
 * <p><b>Revocation.</b> Guesses of which nothing has come for a while give their places up: after
 * {@value #PATIENCE_MILLIS} ms of waiting a reader has the oldest of them revoked that is older
 * than {@value #STUCK_MILLIS} ms, and so has a guess of a tenant with less than its share.
 *
 * <p><b>Slots</b> (docs/adr/0006, 0053). One with bytes that are still to be read is taken by
 * another reader only if its own is {@linkplain Idle#BRIEFLY idle}: slots that readers take from
 * each other are fetched twice. Once its reader is idle {@linkplain Idle#LONG for long} it is the
 * first to go, for guesses too. A guess that is worth a slot gets a slot or nothing. A reader waits
 * for one a few ms and has a copied request then; slots that are dirty come back by themselves.
 *
 * <p><b>Waiting.</b> Nobody waits under a lock. Readers of one tenant are served in order; the next
 * of each is woken when memory or concurrency comes back, and looks again at least every {@value
 * WaitingReaders#RECHECK_MILLIS} ms. A tenant's guesses get nothing while a reader of its own
 * waits, or the next of any tenant lacks memory.
 */
public final class Admission implements AutoCloseable {
  private static final long PATIENCE_MILLIS = 50;
  private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS);
  private static final long STUCK_MILLIS = 1_000;
  private static final long STUCK_NANOS = TimeUnit.MILLISECONDS.toNanos(STUCK_MILLIS);

  /** Other engines evict for each claim. */
  private static final long CLAIM_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private final MemoryBudget budget;
  private final BlockPool pool;
  private final BlockIndex index;
  private final Residency pooled;
  private final WaitingReaders waiting = new WaitingReaders();

  /** When this engine last claimed its share of the budget from others. */
  private final AtomicLong claimedNanos = new AtomicLong(System.nanoTime());

  /** Has what nobody uses give its memory back, at some time. */
  private volatile Runnable wanted = () -> {};

  /** The pool has of {@code budget} what the carriers leave. */
  public Admission(MemoryBudget budget, BlockPool pool, BlockIndex index) {
    this.budget = budget;
    this.pool = pool;
    this.index = index;
    this.pooled = newResidency();
  }

  /** The lanes of one more set of connections. */
  public Carrier carrier(ClientLimits limits) {
    return new Carrier(limits, newResidency());
  }

  private Residency newResidency() {
    return new Residency(index, System::nanoTime, waiting::wake);
  }

  public Account account(Carrier carrier) {
    return new Account(carrier, waiting.accounts, waiting::wake);
  }

  /** Which slabs of pooled buffers stay. */
  public Residency pooled() {
    return pooled;
  }

  /** How many buffers the pool can have as long as no carrier takes more of the budget. */
  private int poolBlocks() {
    long held = pool.reservedBytes();
    long most = Math.max(held + budget.available(), budget.claimable());
    long bytes = pool.isRefused() ? held : most;
    return (int) Math.min(pool.maxBlocks(), bytes / pool.blockBytes());
  }

  /** Bytes that long guesses may hold at most: slots, or pooled buffers where nothing is lent. */
  public long speculativeBytes(Account account) {
    Carrier carrier = account.carrier();
    if (account.lends()) {
      return (long) carrier.slots.forGuesses() * carrier.limits().lentSlotBytes();
    }
    int blocks = poolBlocks();
    return (long) (blocks - Lane.reserve(blocks)) * pool.blockBytes();
  }

  /** Whether a long guess of that tenant would be refused now. */
  public boolean isCrowded(Account account) {
    return account.lends() && (account.awaited() != null || !account.hasSlotAhead());
  }

  /**
   * The grant of a run that no reader waits for, if it is free or can be made free at once; null if
   * not. {@code object} is equal for all its readers.
   */
  public @Nullable Grant trySpeculate(Account account, Object object, Need need, Purpose purpose) {
    if (account.awaited() != null || account.isMemoryWanted()) {
      return null;
    }
    // A guess that finds no slot is not worth buffers for its first part: those serve readers.
    boolean mayCopy = !need.isLong() || !account.lends();
    Grant grant = tryGrant(account, object, need, purpose, mayCopy);
    if (grant == null && account.hasLessThanItsShare()) {
      account.carrier().revokeStuck(STUCK_NANOS);
    }
    return grant;
  }

  private @Nullable Grant tryGrant(
      Account account, Object object, Need need, Purpose purpose, boolean mayCopy) {
    boolean isToFill = need.kind() == Need.MemoryKind.SLOT_FILLING;
    boolean isLent = need.isLong() || (isToFill && purpose != Purpose.DEMAND);
    isLent = isLent && account.mayLend(object, purpose);
    Grant grant = isLent ? tryLend(account, object, 0, purpose) : null;
    if (grant == null && mayCopy) {
      grant = tryCopy(account, object, need.copiedBlocks(), purpose);
    }
    boolean mayPass = isToFill || need.kind() == Need.MemoryKind.SHORT;
    if (grant == null && mayPass && account.mayLend(object, purpose)) {
      // It wastes most of a slot: it only passes through one into its own buffers.
      grant = tryLend(account, object, need.copiedBlocks(), purpose);
    }
    return grant;
  }

  /** A slot, from which the bytes pass on to {@code blocks} buffers, if it is not 0. */
  private @Nullable Grant tryLend(Account account, Object object, int blocks, Purpose purpose) {
    List<BlockLease> leases = new ArrayList<>(blocks);
    boolean hasSlot = false;
    Grant grant = null;
    try {
      boolean hasBuffers = blocks == 0 || addBuffers(leases, blocks, purpose);
      hasSlot = hasBuffers && tryEnterSlots(account, purpose);
      grant = hasSlot ? new Grant(account, object, leases, purpose, true) : null;
      return grant;
    } finally {
      if (grant == null && hasSlot) {
        account.carrier().slots.leave();
      }
      if (grant == null) {
        leases.forEach(BlockLease::release);
      }
    }
  }

  private static boolean tryEnterSlots(Account account, Purpose purpose) {
    Carrier carrier = account.carrier();
    Residency lent = carrier.lent();
    Lane slots = carrier.slots;
    while (!slots.tryEnter(slots.kept(purpose, account.slots.get(), account.isShared()))) {
      boolean evicted =
          lent.evictIdle(Idle.LONG)
              || lent.evictRead()
              || lent.evictDirty(purpose)
              || (purpose == Purpose.DEMAND && lent.evictIdle(Idle.BRIEFLY));
      if (!evicted) {
        return false;
      }
    }
    return true;
  }

  /** A reader that waits gets at least one of {@code blocks}, everybody else all or nothing. */
  private @Nullable Grant tryCopy(Account account, Object object, int blocks, Purpose purpose) {
    Carrier carrier = account.carrier();
    int kept = carrier.copies.kept(purpose, account.copies.get(), account.isShared());
    boolean hasPlace = carrier.copiesByObject.tryEnter(object, kept);
    List<BlockLease> leases = List.of();
    Grant grant = null;
    try {
      leases = new ArrayList<>(blocks);
      if (hasPlace && addBuffers(leases, blocks, purpose)) {
        grant = new Grant(account, object, leases, purpose, false);
      }
      return grant;
    } finally {
      if (purpose == Purpose.DEMAND) {
        account.lackingMemory = hasPlace && grant == null ? Thread.currentThread() : null;
      }
      if (hasPlace && grant == null) {
        leases.forEach(BlockLease::release);
        carrier.copiesByObject.leave(object);
      }
    }
  }

  /** Says whom to tell that buffers were refused; called now and then, on readers' threads. */
  public void whenMemoryIsWanted(Runnable tell) {
    wanted = tell;
  }

  /** Buffers were refused: what other class loaders' engines hold beyond their share is wanted. */
  private void claimShare() {
    long last = claimedNanos.get();
    long now = System.nanoTime();
    if (now - last > CLAIM_PAUSE_NANOS && claimedNanos.compareAndSet(last, now)) {
      wanted.run();
      if (budget.claimable() > 0) {
        budget.claimShare();
      }
    }
  }

  /** Adds buffers up to {@code blocks}; true with one for a reader that waits, else with all. */
  private boolean addBuffers(List<BlockLease> leases, int blocks, Purpose purpose) {
    int lacking = purpose == Purpose.DEMAND ? 0 : blocks - spareBuffers();
    // To evict what would not be enough is to evict in vain.
    boolean mayFind =
        lacking <= 0 || lacking <= pooled.spareSlabs(Idle.LONG) + pooled.parkedEntries();
    while (leases.size() < blocks && mayFind) {
      // The one buffer that a reader needs; others cost nothing that is still to be read.
      boolean isNeeded = purpose == Purpose.DEMAND && leases.isEmpty();
      BlockLease lease = isNeeded || spareBuffers() > 0 ? pool.tryAcquire() : null;
      if (lease != null) {
        leases.add(lease);
      } else {
        // The cheapest goes first: nothing, a write to disk, a GET.
        mayFind =
            pooled.evictRead()
                || pooled.evictDirty(purpose)
                || pooled.evictIdle(Idle.LONG)
                || (isNeeded && pooled.evictUnread());
      }
    }
    if (leases.size() < blocks) {
      claimShare();
    }
    return !leases.isEmpty() && (purpose == Purpose.DEMAND || leases.size() == blocks);
  }

  /** How many buffers there are beyond the reserve; less than none where that is in use. */
  private int spareBuffers() {
    int blocks = poolBlocks();
    return blocks - pool.leased() - Lane.reserve(blocks);
  }

  /**
   * The memory for the GET that a reader waits for: a slot, or at least one buffer.
   *
   * @param givenUp whether the reader wants it no more, or may wait no longer; asked now and then
   * @return null if the reader has given up, or the account is closed
   */
  public @Nullable Grant await(Account account, Object object, Need need, BooleanSupplier givenUp)
      throws InterruptedException {
    boolean prefersSlot = need.isLong() && account.lends();
    Grant grant =
        account.waiting.isEmpty()
            ? tryGrant(account, object, need, Purpose.DEMAND, !prefersSlot)
            : null;
    if (grant != null) {
      return grant;
    }
    try {
      return waiting.await(
          account, object, waited -> look(account, object, need, prefersSlot, waited), givenUp);
    } finally {
      if (Thread.currentThread().equals(account.lackingMemory)) {
        account.lackingMemory = null;
      }
      // Memory that this reader did not take, or has no use for any more, is the next one's.
      waiting.wake();
    }
  }

  private @Nullable Grant look(
      Account account, Object object, Need need, boolean prefersSlot, long waitedNanos) {
    boolean mayCopy = !prefersSlot || waitedNanos >= WaitingReaders.SLOT_PATIENCE_NANOS;
    Grant grant = tryGrant(account, object, need, Purpose.DEMAND, mayCopy);
    if (grant == null && waitedNanos > PATIENCE_NANOS) {
      account.carrier().revokeStuck(STUCK_NANOS);
    }
    return grant;
  }

  /**
   * Whether a reader whose GETs go by {@code carrier} has waited for longer than places take to
   * come back where nothing hangs.
   */
  public boolean isStarving(Carrier carrier, long now) {
    return waiting.isStarving(carrier, now - PATIENCE_NANOS);
  }

  /**
   * Evicts what has been read until about {@code bytes} bytes are free, once through what there is,
   * what is dirty last, and gives the pool's empty memory back to the budget.
   *
   * @param unreadToo whether what is still to be read goes as well if that is not enough: to read
   *     it then takes another GET
   */
  public void shrinkPool(long bytes, boolean unreadToo) {
    for (long evicted = 0; evicted < bytes; evicted += pool.blockBytes()) {
      boolean hasEvicted =
          pooled.evictRead()
              || pooled.evictDirty(Purpose.DEMAND)
              || (unreadToo && pooled.evictUnread());
      if (!hasEvicted) {
        break;
      }
    }
    pool.trim();
  }

  /** Evicts the blocks that {@code which} holds for; memory under a pin goes when the pin ends. */
  public void evict(Carrier carrier, Predicate<Block> which) {
    pooled.evictIf(which);
    carrier.lent().evictIf(which);
  }

  /** Evicts everything, now and from now on; what readers have pinned goes when the pin ends. */
  @Override
  public void close() {
    pooled.close();
  }
}
