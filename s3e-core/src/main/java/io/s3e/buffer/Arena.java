// SPDX-License-Identifier: Apache-2.0
package io.s3e.buffer;

import java.nio.ByteBuffer;

/** One allocation and the buffers it is cut into. */
final class Arena {
  final ByteBuffer memory;
  final int buffers;

  /** How many of them are leased. Guarded by the pool's lock. */
  int leased;

  /** A part of the arena; {@code view} is never handed out, but duplicates of it are. */
  record Buffer(Arena arena, ByteBuffer view) {}

  Arena(ByteBuffer memory, int buffers) {
    this.memory = memory;
    this.buffers = buffers;
  }

  Buffer buffer(int place, int bytes) {
    return new Buffer(this, memory.slice(place * bytes, bytes));
  }
}
