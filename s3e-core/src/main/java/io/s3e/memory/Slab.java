// SPDX-License-Identifier: Apache-2.0
package io.s3e.memory;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Memory that one or more blocks live in and that can only be given back whole: a pooled buffer
 * holds one block, a buffer lent by a client all the blocks of one request.
 *
 * <p><b>States.</b> {@code UNREAD → ONCE → AGAIN → KEPT → GONE}, where any step but the last may be
 * left out; {@link Residency} tells what each means. A slab leaves UNREAD for ONCE when its last
 * block is settled (read or abandoned), and is GONE when it was evicted, whether its blocks are
 * dead or still pinned. A slab that is to leave ONCE, AGAIN or KEPT and is dirty becomes PARKED
 * instead; it goes back to ONCE when it is clean, or is evicted dirty. Eviction never loses
 * anything but a write to the disk: all bytes are at S3 too.
 *
 * <p><b>Marks.</b> A slab is dirty while it has marks: each stands for bytes of a block that are
 * still to be written to local disk. State and marks are one word and move by one compare-and-set,
 * so a slab is PARKED only while it is dirty, none that is GONE gets a new mark, and a step that
 * only a clean slab may take is never taken by a dirty one. The marks of a slab that was evicted
 * dirty are taken away all the same, which changes nothing else.
 *
 * <p><b>Counters.</b> {@code unsettled} and {@code alive} begin with the number of blocks and only
 * fall, because each block reports each step once; a block that dies unsettled stays unsettled.
 *
 * <p><b>Blocks.</b> Slab and {@link Block} know each other, because they are one thing told by two
 * counts: readers pin and settle blocks, and memory is kept and given back by the slab. A block
 * reports each of its steps to its slab at once, without a lock between the two, and the slab makes
 * its blocks readable; nobody else does either.
 *
 * <p><b>Ownership.</b> From {@link Residency#publish} on, the slab owns the memory; {@code free}
 * gives it back, once, when {@code alive} reaches 0, on the thread that ended the last pin.
 */
final class Slab {
  /** Where a slab is; the queues of {@link Residency}. */
  enum State {
    UNREAD,
    ONCE,
    AGAIN,
    KEPT,
    PARKED,
    GONE
  }

  private static final State[] STATES = State.values();

  /** The lowest bits of the word; the others count the marks. */
  private static final int STATE_BITS = 3;

  private static final int MARK = 1 << STATE_BITS;

  private static final AtomicIntegerFieldUpdater<Slab> WORD =
      AtomicIntegerFieldUpdater.newUpdater(Slab.class, "word");
  private static final AtomicIntegerFieldUpdater<Slab> UNSETTLED =
      AtomicIntegerFieldUpdater.newUpdater(Slab.class, "unsettled");
  private static final AtomicIntegerFieldUpdater<Slab> ALIVE =
      AtomicIntegerFieldUpdater.newUpdater(Slab.class, "alive");

  final List<Block> blocks;

  /** Holds the blocks one after the other. */
  final ByteBuffer memory;

  private final BiConsumer<Slab, State> becameOnce;
  final long publishedNanos;
  private final Runnable free;

  /** The state's ordinal and {@link #MARK} times the number of marks; UNREAD and clean at first. */
  private volatile int word;

  /** Blocks that are neither read nor abandoned; read by its updater alone. */
  @SuppressWarnings("UnusedVariable")
  private volatile int unsettled;

  /** Blocks that are referred to; read by its updater alone. */
  @SuppressWarnings("UnusedVariable")
  private volatile int alive;

  /** Whether a block was read again since the slab was settled or spared. */
  private volatile boolean touched;

  /** Whether it holds a block that is to stay longest. */
  private volatile boolean isKept;

  /** The number of its place among the unread or the parked ones. */
  private volatile long place;

  /** {@code becameOnce} hears of moves to ONCE that the slab makes by itself, and where from. */
  Slab(
      List<Block> blocks,
      ByteBuffer memory,
      BiConsumer<Slab, State> becameOnce,
      long publishedNanos,
      Runnable free) {
    this.blocks = List.copyOf(blocks);
    this.memory = memory;
    this.becameOnce = becameOnce;
    this.publishedNanos = publishedNanos;
    this.free = free;
    this.unsettled = blocks.size();
    this.alive = blocks.size();
  }

  /** Makes every block readable. */
  void publish() {
    int base = 0;
    for (Block block : blocks) {
      block.land(this, base);
      base += block.length();
    }
    blocks.get(0).fate().onReady(blocks);
    blocks.forEach(Block::publish);
  }

  State state() {
    return stateIn(word);
  }

  boolean isIn(State which) {
    return state() == which;
  }

  boolean isDirty() {
    return word >= MARK;
  }

  private static State stateIn(int word) {
    return STATES[word & (MARK - 1)];
  }

  /** Moves the state; false if the slab has left {@code from}. */
  boolean move(State from, State to) {
    return move(from, to, to) != null;
  }

  /** Moves a clean or a dirty slab, {@code from} to leave it; null if it has left {@code from}. */
  @Nullable State move(State from, State ifClean, State ifDirty) {
    for (; ; ) {
      int now = word;
      if (stateIn(now) != from) {
        return null;
      }
      State to = now < MARK ? ifClean : ifDirty;
      if (WORD.compareAndSet(this, now, now - from.ordinal() + to.ordinal())) {
        return to;
      }
    }
  }

  /** One mark more; false if the slab is GONE. */
  boolean markDirty() {
    int before = WORD.getAndUpdate(this, now -> stateIn(now) == State.GONE ? now : now + MARK);
    return stateIn(before) != State.GONE;
  }

  /** One mark less. The last one of a parked slab: PARKED → ONCE. */
  void markClean() {
    for (; ; ) {
      int now = word;
      if (now < MARK) {
        throw new IllegalStateException("cleaned more often than marked: " + blocks);
      }
      int left = now - MARK;
      boolean comesBack = left == State.PARKED.ordinal();
      if (WORD.compareAndSet(this, now, comesBack ? State.ONCE.ordinal() : left)) {
        if (comesBack) {
          becameOnce.accept(this, State.PARKED);
        }
        return;
      }
    }
  }

  long place() {
    return place;
  }

  /** The slab is about to be published or parked, by a thread that alone has it. */
  void goesTo(long number) {
    place = number;
  }

  /**
   * When its reader last read anything, in this slab or another, or when it was published. A reader
   * that is slow comes to its later slabs late.
   */
  long lastProgressNanos() {
    long read = blocks.get(0).fate().lastReadNanos();
    return read - publishedNanos > 0 ? read : publishedNanos;
  }

  /** A block was read or abandoned. */
  void blockSettled() {
    if (UNSETTLED.decrementAndGet(this) == 0 && move(State.UNREAD, State.ONCE)) {
      becameOnce.accept(this, State.UNREAD);
    }
  }

  /** A block that was read before is read again. */
  void touch() {
    // Small reads of a slab that is not read to its end yet are one reading of it.
    if (!touched && !isIn(State.UNREAD)) {
      touched = true;
    }
  }

  /** Whether it was touched; a touch counts once. */
  boolean takeTouch() {
    boolean wasTouched = touched;
    touched = false;
    return wasTouched;
  }

  void keep() {
    if (!isKept) {
      isKept = true;
    }
  }

  boolean isKept() {
    return isKept;
  }

  /** A block's last reference went. */
  void blockDied() {
    if (ALIVE.decrementAndGet(this) == 0) {
      free.run();
    }
  }
}
