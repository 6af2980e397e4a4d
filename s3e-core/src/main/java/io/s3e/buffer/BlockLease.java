// SPDX-License-Identifier: Apache-2.0
package io.s3e.buffer;

import io.s3e.buffer.Arena.Buffer;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * The right to use one buffer of a {@link BlockPool}. The caller of {@link BlockPool#tryAcquire}
 * owns it, may hand it on, and the last owner releases it exactly once, from any thread.
 *
 * <p>One step of state: held → released, by compare-and-set in {@link #release}. A lease is an
 * object of its own for each acquisition, so a second release finds its own lease released and
 * cannot touch the buffer's next holder. Racing releases: one wins, the others throw.
 *
 * <p>The memory must not be used after the release, not even for reading: it belongs to somebody
 * else then, or is no longer mapped, which can end the process.
 */
public final class BlockLease {
  private final Consumer<Buffer> giveBack;
  private final Buffer buffer;
  private final ByteBuffer view;

  private final AtomicBoolean released = new AtomicBoolean();

  BlockLease(Consumer<Buffer> giveBack, Buffer buffer) {
    this.giveBack = giveBack;
    this.buffer = buffer;
    this.view = buffer.view().duplicate();
  }

  /**
   * The buffer: direct, with a capacity of the pool's block size. The same view at every call, made
   * for this lease with position 0, limit at the capacity and big-endian order; its contents are
   * whatever the previous holder left.
   *
   * @throws IllegalStateException once the lease is released
   */
  public ByteBuffer buffer() {
    if (released.get()) {
      throw new IllegalStateException(this + " is released, its buffer is no longer its own");
    }
    return view;
  }

  /** Size of the buffer in bytes, released or not. */
  public int bytes() {
    return view.capacity();
  }

  /**
   * Gives the buffer back to the pool. Any thread.
   *
   * @throws IllegalStateException if it was released before; nothing changes then
   */
  public void release() {
    if (!released.compareAndSet(false, true)) {
      throw new IllegalStateException(this + " is released for the second time");
    }
    giveBack.accept(buffer);
  }

  @Override
  public String toString() {
    return "lease of a buffer of " + bytes() + " bytes";
  }
}
