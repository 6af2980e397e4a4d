package io.s3e.memory;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;

/**
 * Memory that one or more blocks live in and that can only be given back whole: a pooled buffer
 * holds one block, a buffer lent by a client all the blocks of one request.
 *
 * <p><b>States.</b> {@code UNREAD → ONCE → AGAIN → GONE}, where any step but the last may be left
 * out; {@link Residency} alone moves them, by compare-and-set, and tells what each means. A slab
 * leaves UNREAD for ONCE when its last block is settled (read or abandoned), and is GONE when it
 * was evicted, whether its blocks are dead or still pinned. All slabs are clean: their bytes are at
 * S3 too, so eviction loses nothing. A slab whose bytes must be on disk before it goes would be one
 * state more between AGAIN and GONE.
 *
 * <p><b>Counters.</b> {@code unsettled} and {@code alive} begin with the number of blocks and only
 * fall, because each block reports each step once; a block that dies unsettled stays unsettled.
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
    GONE
  }

  private static final AtomicReferenceFieldUpdater<Slab, State> STATE =
      AtomicReferenceFieldUpdater.newUpdater(Slab.class, State.class, "state");
  private static final AtomicIntegerFieldUpdater<Slab> UNSETTLED =
      AtomicIntegerFieldUpdater.newUpdater(Slab.class, "unsettled");
  private static final AtomicIntegerFieldUpdater<Slab> ALIVE =
      AtomicIntegerFieldUpdater.newUpdater(Slab.class, "alive");

  private final List<Block> blocks;
  private final Residency residency;
  private final long publishedNanos;
  private final Runnable free;
  private volatile State state = State.UNREAD;

  /** Blocks that are neither read nor abandoned; read by its updater alone. */
  @SuppressWarnings("UnusedVariable")
  private volatile int unsettled;

  /** Blocks that are referred to; read by its updater alone. */
  @SuppressWarnings("UnusedVariable")
  private volatile int alive;

  /** Whether a block was read again since the slab was settled or spared. */
  private volatile boolean touched;

  /**
   * @param blocks at least one
   * @param publishedNanos the time, by the residency's clock
   * @param free gives the memory back
   */
  Slab(List<Block> blocks, Residency residency, long publishedNanos, Runnable free) {
    this.blocks = List.copyOf(blocks);
    this.residency = residency;
    this.publishedNanos = publishedNanos;
    this.free = free;
    this.unsettled = blocks.size();
    this.alive = blocks.size();
  }

  List<Block> blocks() {
    return blocks;
  }

  /** Makes every block readable; {@code memory} holds them one after the other. */
  void publish(ByteBuffer memory) {
    int base = 0;
    for (Block block : blocks) {
      block.publish(this, memory, base);
      base += block.length();
    }
  }

  boolean isIn(State which) {
    return state == which;
  }

  /** Moves the state; false if the slab has left {@code from}. */
  boolean move(State from, State to) {
    return state == from && STATE.compareAndSet(this, from, to);
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
    if (UNSETTLED.decrementAndGet(this) == 0) {
      residency.settled(this);
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
    if (touched) {
      touched = false;
      return true;
    }
    return false;
  }

  /** A block's last reference went. */
  void blockDied() {
    if (ALIVE.decrementAndGet(this) == 0) {
      free.run();
    }
  }
}
