package io.s3e.memory;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Memory that one or more blocks live in and that can only be given back whole: a pooled buffer
 * holds one block, a buffer lent by a client all the blocks of one request.
 *
 * <p><b>States.</b> A slab is <i>unread</i> while some block of it is neither read nor abandoned,
 * then <i>read</i>, and <i>free</i> when all its blocks are dead; {@link Residency} keeps unread
 * and read slabs apart. Each block reports each step once, so the two counters only fall.
 *
 * <p><b>Ownership.</b> From {@link Residency#publish} on, the slab owns the memory; {@code free}
 * gives it back, once, on the thread that ended the last pin.
 */
public final class Slab {
  private final int bytes;
  private final List<Block> blocks;
  private final Residency residency;
  private final Runnable free;
  private final AtomicInteger unsettled;
  private final AtomicInteger alive;

  private final long publishedNanos = System.nanoTime();

  /**
   * @param bytes what the slab weighs, in bytes
   * @param free gives the memory back
   */
  Slab(int bytes, List<Block> blocks, Residency residency, Runnable free) {
    this.bytes = bytes;
    this.blocks = List.copyOf(blocks);
    this.residency = residency;
    this.free = free;
    this.unsettled = new AtomicInteger(blocks.size());
    this.alive = new AtomicInteger(blocks.size());
  }

  /** Weight in bytes. */
  int bytes() {
    return bytes;
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

  /**
   * When its reader last read anything, in this slab or another, or when it was published; by
   * {@link System#nanoTime()}. A reader that is slow comes to its later slabs late.
   */
  long lastProgressNanos() {
    long read = blocks.get(0).fate().lastReadNanos();
    return read - publishedNanos > 0 ? read : publishedNanos;
  }

  /** A block was read or abandoned. */
  void blockSettled() {
    if (unsettled.decrementAndGet() == 0) {
      residency.settled(this);
    }
  }

  /** A block that was read before is read again. */
  void touched() {
    residency.touched(this);
  }

  /** A block's last reference went. */
  void blockDied() {
    if (alive.decrementAndGet() == 0) {
      free.run();
    }
  }

  /** Whether all blocks are read or abandoned. */
  boolean isSettled() {
    return unsettled.get() == 0;
  }
}
