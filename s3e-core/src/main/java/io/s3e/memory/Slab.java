// SPDX-License-Identifier: Apache-2.0
package io.s3e.memory;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

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
 * still to be written to local disk. It is PARKED only while it is dirty, and gets no new mark once
 * it is GONE. The marks of a slab that was evicted dirty are taken away all the same, which changes
 * nothing else.
 *
 * <p><b>Lock.</b> State and marks are written with the lock of the {@code queues}, which is held
 * for that alone: nothing is told, freed or waited for under it. A slab that is not GONE is in the
 * queue of its state, but for the moment in which it is published.
 *
 * <p><b>Counters.</b> {@code unsettled} and {@code alive} begin with the number of blocks and only
 * fall, because each block reports each step once; a block that dies unsettled stays unsettled.
 *
 * <p><b>Blocks.</b> Slab and {@link Block} know each other: a block reports each of its steps to
 * its slab at once, and the slab alone makes its blocks readable and gives their memory back.
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

  final List<Block> blocks;

  /** Holds the blocks one after the other. */
  final ByteBuffer memory;

  /** By the state's ordinal; what is GONE is in none. */
  private final List<Set<Slab>> queues;

  private final Runnable roomMade;
  final long publishedNanos;
  private final Runnable free;

  private volatile State state = State.UNREAD;

  /** Guarded by {@code queues}. */
  private int marks;

  /** Blocks that are neither read nor abandoned. */
  private final AtomicInteger unsettled;

  /** Blocks that are referred to. */
  private final AtomicInteger alive;

  /** Whether a block was read again since the slab was settled or spared. */
  private volatile boolean touched;

  /** Whether it holds a block that is to stay longest. */
  private volatile boolean isKept;

  /** {@code roomMade} hears of moves to ONCE, which the slab makes by itself. */
  Slab(
      List<Block> blocks,
      ByteBuffer memory,
      List<Set<Slab>> queues,
      Runnable roomMade,
      long publishedNanos,
      Runnable free) {
    this.blocks = List.copyOf(blocks);
    this.memory = memory;
    this.queues = queues;
    this.roomMade = roomMade;
    this.publishedNanos = publishedNanos;
    this.free = free;
    this.unsettled = new AtomicInteger(blocks.size());
    this.alive = new AtomicInteger(blocks.size());
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
    return state;
  }

  /** With the lock. */
  boolean isDirty() {
    return marks > 0;
  }

  /** To the end of the queue of that state, which may be its own. With the lock. */
  void moveTo(State to) {
    if (to != state && to != State.GONE) {
      // First: where the heap has no room for it, the slab stays what and where it is.
      queues.get(to.ordinal()).add(this);
    }
    queues.get(state.ordinal()).remove(this);
    if (to == state) {
      queues.get(to.ordinal()).add(this);
    }
    state = to;
  }

  /** One mark more; false if the slab is GONE. */
  boolean markDirty() {
    synchronized (queues) {
      boolean isThere = state != State.GONE;
      marks += isThere ? 1 : 0;
      return isThere;
    }
  }

  /** One mark less. The last one of a parked slab: PARKED → ONCE. */
  void markClean() {
    boolean comesBack;
    synchronized (queues) {
      if (marks == 0) {
        throw new IllegalStateException("cleaned more often than marked: " + blocks);
      }
      marks--;
      comesBack = marks == 0 && state == State.PARKED;
      if (comesBack) {
        moveTo(State.ONCE);
      }
    }
    if (comesBack) {
      roomMade.run();
    }
  }

  /**
   * When its reader last read anything, in this slab or another, or when it was published. A reader
   * that is slow comes to its later slabs late.
   */
  long lastProgressNanos() {
    long read = blocks.get(0).fate().lastReadNanos();
    return read - publishedNanos > 0 ? read : publishedNanos;
  }

  /** A block was read or abandoned. The last one: UNREAD → ONCE. */
  void blockSettled() {
    if (unsettled.decrementAndGet() > 0) {
      return;
    }
    boolean isThere;
    synchronized (queues) {
      isThere = state == State.UNREAD;
      if (isThere) {
        moveTo(State.ONCE);
      }
    }
    if (isThere) {
      roomMade.run();
    }
  }

  /** A block that was read before is read again. */
  void touch() {
    // Small reads of a slab that is not read to its end yet are one reading of it.
    if (!touched && state != State.UNREAD) {
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
    if (alive.decrementAndGet() == 0) {
      free.run();
    }
  }
}
