package io.s3e.buffer;

import java.nio.ByteBuffer;

/** One allocation and the buffers it is cut into. Guarded by the pool's lock. */
final class Arena {
  final ByteBuffer memory;

  /** The pool's indices of the buffers, in the order of their addresses. */
  final int[] indices;

  /** How many of them trims have taken off the free stack and not put back. */
  int withheld;

  Arena(ByteBuffer memory, int[] indices) {
    this.memory = memory;
    this.indices = indices;
  }

  boolean isIdle() {
    return withheld == indices.length;
  }

  long bytes() {
    return memory.capacity();
  }
}
