// SPDX-License-Identifier: Apache-2.0
package io.s3e.buffer;

import java.nio.ByteBuffer;

/** Where the memory of arenas comes from and goes to; {@link DirectMemory} outside of tests. */
interface ArenaMemory {
  /**
   * Memory outside the heap; on it where the JVM has no other left.
   *
   * @param bytes at least 1
   * @return a buffer with position 0 and limit and capacity {@code bytes}
   * @throws OutOfMemoryError if there is not that much
   */
  ByteBuffer allocate(int bytes);

  /** Frees what {@link #allocate} returned, at once if the JVM permits. Nobody uses it any more. */
  void free(ByteBuffer memory);
}
