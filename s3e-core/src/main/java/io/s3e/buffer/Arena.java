// SPDX-License-Identifier: Apache-2.0
package io.s3e.buffer;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** One allocation and the buffers it is cut into. */
final class Arena {
  final ByteBuffer memory;
  final List<Buffer> buffers = new ArrayList<>();

  /** How many of them are leased. Guarded by the lock of the pool's free buffers. */
  int leased;

  /** A part of the arena; {@code view} is never handed out, but duplicates of it are. */
  record Buffer(Arena arena, ByteBuffer view) {}

  Arena(ByteBuffer memory, int blockBytes) {
    this.memory = memory;
    for (int at = 0; at < memory.capacity(); at += blockBytes) {
      buffers.add(new Buffer(this, memory.slice(at, blockBytes)));
    }
  }
}
