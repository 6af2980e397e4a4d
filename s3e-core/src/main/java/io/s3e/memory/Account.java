// SPDX-License-Identifier: Apache-2.0
package io.s3e.memory;

import io.s3e.client.RequestFailure;
import io.s3e.memory.IdleSlabs.Idle;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The memory of one tenant: the places that it holds in the lanes of its {@link Carrier}, and its
 * readers that wait. Readers of one tenant are served in order; tenants compete as equals, however
 * many readers of each wait.
 *
 * <p>A client may stop lending while it lives (its memory was refused, or another client reads in
 * its place). It says so by failing a lent GET with {@link RequestFailure.Kind#NOT_LENT}; {@link
 * #pauseLending} then makes every grant of this tenant a copied one for a minute. Others over the
 * same connections have clients of their own.
 */
public final class Account implements AutoCloseable {
  /** To ask again costs a GET that fails at once; rates without slots are about half as high. */
  private static final long LENDING_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(60);

  private final Carrier carrier;
  private final Set<Account> accounts;
  private final Runnable roomMade;
  private final AtomicLong bytes = new AtomicLong();
  private final AtomicBoolean open = new AtomicBoolean(true);

  /** Places held in the lane of copied requests. */
  final AtomicInteger copies = new AtomicInteger();

  /** Lent slots held, in flight or by blocks. */
  final AtomicInteger slots = new AtomicInteger();

  /** The readers that wait, in the order in which they are served. */
  final Queue<Reader> waiting = new ConcurrentLinkedQueue<>();

  /** The reader that had a place and found no pooled buffer when one looked last. */
  volatile @Nullable Thread lackingMemory;

  /** By {@link System#nanoTime()}; no slot is granted before. */
  private volatile long lendsFromNanos = System.nanoTime();

  /** A thread that waits, and the object that it reads. */
  record Reader(Thread thread, Object object, long sinceNanos) {}

  /** Is one of {@code accounts} until it is closed. */
  Account(Carrier carrier, Set<Account> accounts, Runnable roomMade) {
    this.carrier = carrier;
    this.accounts = accounts;
    this.roomMade = roomMade;
    carrier.accounts.incrementAndGet();
    accounts.add(this);
  }

  public Carrier carrier() {
    return carrier;
  }

  /** Whether slots are granted now. */
  public boolean lends() {
    return carrier.slots.capacity > 0 && System.nanoTime() - lendsFromNanos >= 0;
  }

  /** The client has said that it lends nothing for now. */
  public void pauseLending() {
    lendsFromNanos = System.nanoTime() + LENDING_PAUSE_NANOS;
  }

  /** How many long guesses may be in flight at once. */
  public int mostLongGuesses() {
    return (lends() ? carrier.slots : carrier.copies).forGuesses();
  }

  /**
   * The reader that is served next: the first whose object may have one more place, so that those
   * of an object that hangs do not stand in the way of the others; the first of all, if there is
   * none. Null if nobody waits.
   */
  @Nullable Reader next() {
    Reader awaited = awaited();
    return awaited != null ? awaited : waiting.peek();
  }

  /** The first reader whose object may have one more place; guesses wait for it. Null if none. */
  @Nullable Reader awaited() {
    ObjectPlaces places = carrier.copiesByObject;
    return waiting.stream().filter(one -> !places.isFull(one.object())).findFirst().orElse(null);
  }

  /** Whether the reader that is served next lacks memory; one that others pass by lacks a place. */
  boolean isLackingMemory() {
    Thread lacking = lackingMemory;
    Reader next = lacking == null ? null : next();
    return next != null && next.thread() == lacking;
  }

  /** Whether the reader that is served next of another tenant lacks memory. */
  public boolean isMemoryWanted() {
    for (Account other : accounts) {
      if (other != this && other.isLackingMemory()) {
        return true;
      }
    }
    return false;
  }

  /** Whether the object's GETs are late, and it may have no more places until they end. */
  public boolean isHeldUp(Object object) {
    ObjectPlaces places = carrier.copiesByObject;
    return places.isFull(object) && places.isSilent(object);
  }

  boolean isOpen() {
    return open.get();
  }

  /** Whether a long guess finds a slot, or one that can be made free at once. */
  boolean hasSlotAhead() {
    Lane lane = carrier.slots;
    Residency lent = carrier.lent();
    int held = slots.get();
    return lane.hasRoomAhead(0, held, isShared())
        || lane.hasRoomAhead(lent.spareSlabs(Idle.LONG) + lent.parkedEntries(), held, isShared());
  }

  /** Whether a slot is to be looked for: to evict what would not be enough is to evict in vain. */
  boolean mayLend(Object object, Purpose purpose) {
    boolean isLent = lends() && !carrier.copiesByObject.isSilent(object);
    return isLent && (purpose == Purpose.DEMAND || hasSlotAhead());
  }

  boolean hasLessThanItsShare() {
    return isShared() && slots.get() * carrier.accounts.get() < carrier.slots.capacity;
  }

  /** Whether other tenants use the same connections. */
  boolean isShared() {
    return carrier.accounts.get() > 1;
  }

  /** Memory that the tenant's GETs were granted and that is not free again, in bytes. */
  public long heldBytes() {
    return bytes.get();
  }

  void hold(long more) {
    bytes.addAndGet(more);
  }

  /** Others may find room: something that the tenant held is free. */
  void roomMade() {
    roomMade.run();
  }

  /** Ends the waits of the tenant's readers; what it holds is given back as its GETs end. */
  @Override
  public void close() {
    if (open.compareAndSet(true, false)) {
      carrier.accounts.decrementAndGet();
      roomMade.run();
      accounts.remove(this);
    }
  }
}
