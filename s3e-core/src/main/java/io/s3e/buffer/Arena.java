// SPDX-License-Identifier: Apache-2.0
package io.s3e.buffer;

import java.nio.ByteBuffer;

/** One allocation and the buffers it is cut into. Guarded by the pool's lock. */
final class Arena {
  final ByteBuffer memory;
  final int buffers;

  /** How many of them trims have taken from the free ones and not put back. */
  int withheld;

  /** A part of the arena; {@code view} is never handed out, but duplicates of it are. */
  record Buffer(Arena arena, ByteBuffer view) {}

  Arena(ByteBuffer memory, int buffers) {
    this.memory = memory;
    this.buffers = buffers;
  }

  Buffer buffer(int place, int bytes) {
    return new Buffer(this, memory.slice(place * bytes, bytes));
  }

  boolean isIdle() {
    return withheld == buffers;
  }

  long bytes() {
    return memory.capacity();
  }
}
