// SPDX-License-Identifier: Apache-2.0
package io.s3e.memory;

import io.s3e.memory.Slab.State;
import io.s3e.memory.UnreadSlabs.Idle;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Which slabs of one kind of memory stay when room is needed. All slabs of one residency are of
 * about the same size.
 *
 * <p><b>Queues.</b> A slab waits in the queue of its {@linkplain Slab.State state}, oldest first:
 * <i>unread</i> until all its blocks are read or abandoned, then <i>once</i>, and <i>again</i> if
 * it had been read once more when its turn to leave came. A scan fills <i>once</i> only, so it does
 * not push out what is read repeatedly; <i>again</i> holds {@value #MOST_AGAIN} times as much as
 * <i>once</i> at most, so that a working set of the past leaves. A slab whose turn to leave has
 * come and that is dirty is <i>parked</i> until it is clean, and enters <i>once</i> then: it is
 * passed over once, however many evictions come meanwhile.
 *
 * <p>A slab with a {@linkplain Block#keep kept} block goes from <i>once</i> or <i>again</i> to
 * <i>kept</i> when its turn to leave comes. A kept slab leaves before all others while more than
 * one in {@value #KEPT_PART} of what has been read is kept, more than one slab in any case, and
 * after all others otherwise; the slab that was kept first goes first, but a slab that was read
 * since stays for another round.
 *
 * <p><b>Who may evict.</b> Speculation may take slabs that have been read, and those whose reader
 * is {@link Idle} for long: no other prefetched block is pushed out by a guess. Of parked ones it
 * may take those that came a while ago: each costs a write that nobody waits for. Fetches for a
 * waiting reader may take any parked slab, and then unread slabs, the oldest first, which costs a
 * GET, dirty or not; {@link Admission} tells which lent ones.
 *
 * <p><b>Invariants.</b> The slab's state alone says where it is; the thread that moves the state by
 * compare-and-set does what follows: it enters the slab into the next queue, or drops it. So a slab
 * is dropped once. <i>Once</i>, <i>again</i> and <i>kept</i> may still hold a slab that has left
 * its state, which is passed over when it is met. Between the move and the entry a slab is in no
 * queue, and is not found by others.
 *
 * <p>A slab that is ONCE, AGAIN or KEPT is entered once in the queue of its state, or held by one
 * thread: the one that took it out of there, or that has found it settled or clean. Only that
 * thread parks it. <i>Unread</i> and <i>parked</i> hold a slab under a number that no other place
 * has: the number's entry goes when the slab leaves the state, or, if that happens before the
 * entry, by the thread that entered it. So no entry outlives its state, and a slab that is read or
 * clean is never left there.
 *
 * <p>Any thread; no method takes a lock. Publishing, settling and parking take a logarithm of what
 * is unread or parked, eviction constant time on average, and a read of a resident block writes at
 * most one flag of its slab.
 */
public final class Residency {
  /** The share of {@code again} is three quarters of what has been read. */
  private static final int MOST_AGAIN = 3;

  /** Slabs that one eviction lets stay; the next one leaves. */
  private static final int MOST_SPARED = 64;

  /**
   * One slab in so many stays in {@code once} for another round without having been read again. So
   * a part of an object that is read over and over, and is a little larger than memory, is there
   * the next time; the others would leave just before they are needed.
   */
  private static final int SAMPLE = 16;

  /** A slab that came less than 20 ms ago is written in a moment, as a rule. */
  private static final long WRITE_NANOS = 20_000_000;

  /** Of what has been read, one slab in so many is kept at most. */
  private static final int KEPT_PART = 8;

  private final BlockIndex index;
  private final LongSupplier nanoClock;
  private final Runnable roomMade;

  /** By the number of the place, which rises. */
  final ConcurrentNavigableMap<Long, Slab> unread = new ConcurrentSkipListMap<>();

  private final UnreadSlabs idle = new UnreadSlabs(unread);
  private final Queue<Slab> once = new ConcurrentLinkedQueue<>();
  private final Queue<Slab> again = new ConcurrentLinkedQueue<>();
  private final Queue<Slab> kept = new ConcurrentLinkedQueue<>();

  /** As {@code unread}. */
  private final ConcurrentNavigableMap<Long, Slab> parked = new ConcurrentSkipListMap<>();

  private final AtomicLong places = new AtomicLong();

  /** By the state's ordinal: slabs that are ONCE, AGAIN and KEPT. */
  private final AtomicIntegerArray counts = new AtomicIntegerArray(State.values().length);

  /** Slabs whose turn to leave {@code once} came. */
  private final AtomicInteger turns = new AtomicInteger();

  private volatile boolean closed;

  /** {@code roomMade} hears that one more slab may go, for anybody: any thread, must not block. */
  public Residency(BlockIndex index, LongSupplier nanoClock, Runnable roomMade) {
    this.index = index;
    this.nanoClock = nanoClock;
    this.roomMade = roomMade;
  }

  /**
   * Makes {@code blocks} readable out of {@code memory}, where they stand one after the other, and
   * takes over the memory.
   *
   * @param blocks of one fetch, all of them FETCHING
   * @param unwanted blocks that nobody will come to read, since they are not in the index, as all
   *     others of {@code blocks} are; those of other slabs do not count
   * @param free gives the memory back, in any case
   */
  public void publish(
      List<Block> blocks, Collection<Block> unwanted, ByteBuffer memory, Runnable free) {
    Slab slab = slab(blocks, memory, free);
    long number = places.incrementAndGet();
    slab.goesTo(number);
    slab.publish();
    try {
      if (!unwanted.isEmpty()) {
        if (unwanted.containsAll(blocks)) {
          boolean unused = evict(slab, State.UNREAD, State.GONE);
          return;
        }
        blocks.stream().filter(unwanted::contains).forEach(Block::abandon);
      }
      // Only a readable slab may be evicted, so it is entered afterwards; readers may have settled
      // and evicted it meanwhile.
      enter(unread, number, slab, State.UNREAD);
    } catch (RuntimeException | Error e) {
      // In no queue nobody would ever evict it.
      boolean unused = evict(slab, State.UNREAD, State.GONE);
      throw e;
    }
  }

  private Slab slab(List<Block> blocks, ByteBuffer memory, Runnable free) {
    try {
      return new Slab(blocks, memory, this::becameOnce, nanoClock.getAsLong(), free);
    } catch (RuntimeException | Error e) {
      // No block knows of the memory yet: none gives it back as it fails.
      free.run();
      throw e;
    }
  }

  /** The slab has moved to ONCE: with its last block settled, or from PARKED with its last mark. */
  private void becameOnce(Slab slab, State from) {
    // Before it enters another queue: whoever finds it there may park it anew.
    left(slab, from);
    counts.incrementAndGet(State.ONCE.ordinal());
    enter(once, slab, State.ONCE);
    roomMade.run();
  }

  /** Evicts a clean slab that has been read, and not again of late. False if there is none. */
  public boolean evictRead() {
    int spared = 0;
    for (Slab slab = pollRead(); slab != null; slab = pollRead()) {
      if (spared < MOST_SPARED && stays(slab)) {
        spared++;
      } else if (evictOrPark(slab)) {
        return true;
      }
    }
    return false;
  }

  private @Nullable Slab pollRead() {
    boolean isKeptFull = isKeptFull();
    boolean isAgainFull = count(State.AGAIN) > MOST_AGAIN * count(State.ONCE);
    Slab slab = isKeptFull ? kept.poll() : null;
    slab = slab != null ? slab : (isAgainFull ? again : once).poll();
    slab = slab != null ? slab : (isAgainFull ? once : again).poll();
    return slab != null ? slab : kept.poll();
  }

  private boolean isKeptFull() {
    return count(State.KEPT) > Math.max(1, readSlabs() / KEPT_PART);
  }

  private int count(State state) {
    return counts.get(state.ordinal());
  }

  private int readSlabs() {
    return count(State.ONCE) + count(State.AGAIN) + count(State.KEPT);
  }

  /** Enters a slab whose turn to leave has come for another round, if it is worth one. */
  private boolean stays(Slab slab) {
    State from = slab.state();
    if (slab.isKept()) {
      return (from != State.KEPT || slab.takeTouch()) && goesOn(slab, from, kept, State.KEPT);
    }
    if (slab.takeTouch()) {
      return goesOn(slab, from, again, State.AGAIN);
    }
    return from == State.ONCE
        && turns.incrementAndGet() % SAMPLE == 0
        && enter(once, slab, State.ONCE);
  }

  /** Enters a slab that was taken out of a queue into another, or again; false if it is GONE. */
  private boolean goesOn(Slab slab, State from, Queue<Slab> queue, State to) {
    if (from != to && from != State.GONE && slab.move(from, to)) {
      left(slab, from);
      counts.incrementAndGet(to.ordinal());
    }
    return enter(queue, slab, to);
  }

  /** False if the slab is not in that state any more. */
  private boolean enter(Queue<Slab> queue, Slab slab, State state) {
    if (!slab.isIn(state)) {
      return false;
    }
    queue.add(slab);
    clearIfClosed();
    return true;
  }

  /** Evicts a slab that was taken out of its queue, or parks it; false unless it was evicted. */
  private boolean evictOrPark(Slab slab) {
    for (State from = slab.state(); from != State.GONE; from = slab.state()) {
      if (evict(slab, from, from)) {
        return true;
      }
      if (park(slab, from)) {
        return false;
      }
    }
    return false;
  }

  /** False if the slab is clean or GONE. */
  private boolean park(Slab slab, State from) {
    long number = places.incrementAndGet();
    slab.goesTo(number);
    if (slab.move(from, from, State.PARKED) != State.PARKED) {
      return false;
    }
    left(slab, from);
    enter(parked, number, slab, State.PARKED);
    return true;
  }

  private void enter(Map<Long, Slab> queue, long number, Slab slab, State state) {
    queue.put(number, slab);
    if (slab.isIn(state) && slab.place() == number) {
      clearIfClosed();
    } else {
      queue.remove(number);
    }
  }

  /** Evicts the slab parked first; for a guess, none that has just come. False if there is none. */
  public boolean evictDirty(Purpose purpose) {
    for (var oldest = parked.firstEntry(); oldest != null; oldest = parked.firstEntry()) {
      Slab slab = oldest.getValue();
      if (purpose == Purpose.GUESS && nanoClock.getAsLong() - slab.publishedNanos < WRITE_NANOS) {
        return false;
      }
      if (parked.remove(oldest.getKey(), slab) && evict(slab, State.PARKED, State.GONE)) {
        return true;
      }
    }
    return false;
  }

  /** Evicts the oldest slab that is not read to its end. False if there is none. */
  public boolean evictUnread() {
    for (var oldest = unread.pollFirstEntry(); oldest != null; oldest = unread.pollFirstEntry()) {
      if (evict(oldest.getValue(), State.UNREAD, State.GONE)) {
        return true;
      }
    }
    return false;
  }

  /** Evicts an unread slab whose reader is idle. False if there is none that is known. */
  public boolean evictIdle(Idle how) {
    long now = nanoClock.getAsLong();
    Queue<Slab> found = idle.known(how, now);
    for (Slab slab = found.poll(); slab != null; slab = found.poll()) {
      if (UnreadSlabs.isIdle(slab, how, now) && evict(slab, State.UNREAD, how.ifDirty)) {
        return true;
      }
    }
    return false;
  }

  /** Evicts a slab, but a dirty one only if {@code ifDirty} is GONE; whether this call has. */
  private boolean evict(Slab slab, State from, State ifDirty) {
    if (slab.move(from, State.GONE, ifDirty) != State.GONE) {
      return false;
    }
    left(slab, from);
    slab.blocks.forEach(index::remove);
    evictAll(slab.blocks.iterator());
    return true;
  }

  /** The memory goes back only if all do, whatever the fate of one throws. */
  private static void evictAll(Iterator<Block> blocks) {
    try {
      while (blocks.hasNext()) {
        blocks.next().evict();
      }
    } finally {
      if (blocks.hasNext()) {
        evictAll(blocks);
      }
    }
  }

  /** The slab has left that state, by this thread's move. */
  private void left(Slab slab, State state) {
    switch (state) {
      case ONCE, AGAIN, KEPT -> counts.decrementAndGet(state.ordinal());
      case UNREAD -> unread.remove(slab.place());
      case PARKED -> parked.remove(slab.place());
      case GONE -> {}
    }
  }

  /** About how many slabs anybody may evict: read and not parked, or left alone by their reader. */
  public int spareSlabs(Idle how) {
    return readSlabs() + idle.known(how, nanoClock.getAsLong()).size();
  }

  /**
   * Evicts all slabs with unwanted blocks, dirty or not, in one walk. A slab that is published or
   * moves between the queues meanwhile may stay.
   *
   * @param unwanted asked of one block of each slab: all of them come from one fetch
   */
  public void evictIf(Predicate<Block> unwanted) {
    // A slab goes the way of the walk, but for a parked one that becomes clean.
    evictIf(parked.values(), unwanted);
    evictIf(unread.values(), unwanted);
    evictIf(once, unwanted);
    evictIf(again, unwanted);
    evictIf(kept, unwanted);
    evictIf(parked.values(), unwanted);
    idle.forget();
  }

  private void evictIf(Collection<Slab> queue, Predicate<Block> unwanted) {
    for (Iterator<Slab> slabs = queue.iterator(); slabs.hasNext(); ) {
      Slab slab = slabs.next();
      if (unwanted.test(slab.blocks.get(0))) {
        for (State from = slab.state(); from != State.GONE; from = slab.state()) {
          evict(slab, from, State.GONE);
        }
      }
      if (slab.isIn(State.GONE)) {
        slabs.remove();
      }
    }
  }

  /** Evicts everything, now and from now on; memory under a pin goes back when the pin ends. */
  public void close() {
    closed = true;
    clearIfClosed();
  }

  /** Called after each entry into a queue, so that what {@link #close} does not find goes here. */
  private void clearIfClosed() {
    if (closed) {
      evictIf(block -> true);
    }
  }

  int parkedEntries() {
    return parked.size();
  }
}
