// SPDX-License-Identifier: Apache-2.0
package io.s3e.memory;

import io.s3e.memory.IdleSlabs.Idle;
import io.s3e.memory.Slab.State;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
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
 * <p><b>Who may evict</b> what is {@link Admission}'s to say. Of parked slabs speculation may take
 * those that came a while ago, since each costs a write that nobody waits for, and fetches for a
 * waiting reader any; an unread one, dirty or not, costs a GET.
 *
 * <p><b>Lock.</b> {@code queues} guards the queues, and the state and marks of each slab. It is
 * held for a few steps in them, for a walk over what is unread from time to time, for one over what
 * has been read where all of it is dirty, and for one over all slabs when a tenant ends. A slab
 * that is evicted leaves its queue under the lock; its blocks are dropped by the same thread, once,
 * without it. Nobody else is told of anything under it.
 *
 * <p>Any thread. A read takes the lock once a slab, when it settles it; other reads of a resident
 * block write at most one flag of its slab.
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

  // Oldest first.
  final Set<Slab> unread = new LinkedHashSet<>();
  private final Set<Slab> once = new LinkedHashSet<>();
  private final Set<Slab> again = new LinkedHashSet<>();
  private final Set<Slab> kept = new LinkedHashSet<>();
  private final Set<Slab> parked = new LinkedHashSet<>();

  /** By the state's ordinal; what is GONE is in none. Guards them and what follows. */
  private final List<Set<Slab>> queues =
      new ArrayList<>(List.of(unread, once, again, kept, parked));

  private final IdleSlabs idle = new IdleSlabs(unread);

  /** Slabs whose turn to leave {@code once} came. */
  private int turns;

  private boolean closed;

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
    slab.publish();
    boolean isToStay = false;
    try {
      if (unwanted.isEmpty() || !unwanted.containsAll(blocks)) {
        for (Block block : blocks) {
          if (unwanted.contains(block)) {
            block.abandon();
          }
        }
        isToStay = entered(slab);
      }
    } finally {
      if (!isToStay) {
        // In no queue nobody would ever evict it.
        drop(taken(slab));
      }
    }
  }

  private Slab slab(List<Block> blocks, ByteBuffer memory, Runnable free) {
    try {
      return new Slab(blocks, memory, queues, roomMade, nanoClock.getAsLong(), free);
    } catch (RuntimeException | Error e) {
      // No block knows of the memory yet: none gives it back as it fails.
      free.run();
      throw e;
    }
  }

  /** A slab whose blocks are readable may be evicted, and not before; false if all are to leave. */
  private boolean entered(Slab slab) {
    synchronized (queues) {
      // Readers may have settled it meanwhile, and others evicted it.
      if (slab.state() == State.UNREAD) {
        slab.moveTo(State.UNREAD);
      }
      return !closed;
    }
  }

  /** Evicts a clean slab that has been read, and not again of late. False if there is none. */
  public boolean evictRead() {
    return drop(takenOfRead());
  }

  private @Nullable Slab takenOfRead() {
    synchronized (queues) {
      int spared = 0;
      for (Slab slab = nextOfRead(); slab != null; slab = nextOfRead()) {
        State next = spared < MOST_SPARED ? nextRound(slab) : State.GONE;
        if (next != State.GONE) {
          spared++;
        } else if (slab.isDirty()) {
          next = State.PARKED;
        }
        slab.moveTo(next);
        if (next == State.GONE) {
          return slab;
        }
      }
      return null;
    }
  }

  /** The slab whose turn to leave it is. With the lock. */
  private @Nullable Slab nextOfRead() {
    if (kept.size() > Math.max(1, readSlabs() / KEPT_PART)) {
      return first(kept);
    }
    if (again.size() > MOST_AGAIN * once.size()) {
      return first(again);
    }
    return first(once.isEmpty() ? kept : once);
  }

  private static @Nullable Slab first(Set<Slab> queue) {
    return queue.isEmpty() ? null : queue.iterator().next();
  }

  private int readSlabs() {
    return once.size() + again.size() + kept.size();
  }

  /**
   * Where a slab stays for another round whose turn to leave has come; GONE if it is worth none.
   */
  private State nextRound(Slab slab) {
    State from = slab.state();
    if (slab.isKept()) {
      return from != State.KEPT || slab.takeTouch() ? State.KEPT : State.GONE;
    }
    if (slab.takeTouch()) {
      return State.AGAIN;
    }
    return from == State.ONCE && ++turns % SAMPLE == 0 ? State.ONCE : State.GONE;
  }

  /** Evicts the slab parked first; for a guess, none that has just come. False if there is none. */
  public boolean evictDirty(Purpose purpose) {
    Slab slab;
    synchronized (queues) {
      slab = first(parked);
      boolean isYoung = slab != null && nanoClock.getAsLong() - slab.publishedNanos < WRITE_NANOS;
      slab = isYoung && purpose == Purpose.GUESS ? null : taken(slab);
    }
    return drop(slab);
  }

  /** Evicts the oldest slab that is not read to its end. False if there is none. */
  public boolean evictUnread() {
    Slab slab;
    synchronized (queues) {
      slab = taken(first(unread));
    }
    return drop(slab);
  }

  /** Evicts an unread slab whose reader is idle. False if there is none that is known. */
  public boolean evictIdle(Idle how) {
    Slab slab;
    synchronized (queues) {
      slab = taken(idle.poll(how, nanoClock.getAsLong()));
    }
    return drop(slab);
  }

  /** Out of its queue, for who drops it then; null if it is GONE already, or none. */
  private @Nullable Slab taken(@Nullable Slab slab) {
    synchronized (queues) {
      if (slab == null || slab.state() == State.GONE) {
        return null;
      }
      slab.moveTo(State.GONE);
      return slab;
    }
  }

  /** Drops a slab that this thread has taken; false if it has none. */
  private boolean drop(@Nullable Slab slab) {
    if (slab != null) {
      drop(slab.blocks);
    }
    return slab != null;
  }

  private void drop(List<Block> blocks) {
    try {
      blocks.forEach(index::remove);
    } finally {
      evictAll(blocks.iterator());
    }
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

  /** About how many slabs anybody may evict: read and not parked, or left alone by their reader. */
  public int spareSlabs(Idle how) {
    synchronized (queues) {
      return readSlabs() + idle.known(how, nanoClock.getAsLong()).size();
    }
  }

  /**
   * Evicts all slabs with unwanted blocks, dirty or not. A slab that is published meanwhile may
   * stay.
   *
   * @param unwanted asked of one block of each slab: all of them come from one fetch
   */
  public void evictIf(Predicate<Block> unwanted) {
    List<Block> evicted = new ArrayList<>();
    try {
      synchronized (queues) {
        for (Set<Slab> queue : queues) {
          for (Slab slab : List.copyOf(queue)) {
            if (unwanted.test(slab.blocks.get(0))) {
              evicted.addAll(slab.blocks);
              slab.moveTo(State.GONE);
            }
          }
        }
        idle.forget();
      }
    } finally {
      drop(evicted);
    }
  }

  /** Evicts everything, now and from now on; memory under a pin goes back when the pin ends. */
  public void close() {
    synchronized (queues) {
      closed = true;
    }
    evictIf(block -> true);
  }

  int parkedEntries() {
    synchronized (queues) {
      return parked.size();
    }
  }
}
