// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import java.nio.ByteBuffer;

/**
 * The bytes around a stream's position, in an array of the stream's own. Reads of a few bytes come
 * from here: a pin and a copy out of a block cost some 50 ns, a byte of an array next to nothing.
 * Belongs to the moving position: one thread at a time.
 */
final class ShortReads {
  /** Reads of up to this many bytes are short. */
  static final int MAX_BYTES = 1024;

  private static final int CAPACITY = 8 << 10;

  /** The bytes copied where a reader has jumped to: it may jump on before it has read more. */
  private static final int AFTER_JUMP_BYTES = MAX_BYTES;

  private static final ByteBuffer NONE = ByteBuffer.allocate(0);

  private ByteBuffer room = NONE;
  private byte[] bytes = NONE.array();
  private long start;
  private int length;

  /** Index in the array of the byte at {@code position}; -1 if it is not here. */
  int indexOf(long position) {
    long index = position - start;
    return index >= 0 && index < length ? (int) index : -1;
  }

  int byteAt(int index) {
    return bytes[index] & 0xFF;
  }

  /** Copies from {@code index} on what is here and wanted; how many bytes. */
  int copy(int index, byte[] target, int offset, int wanted) {
    int count = Math.min(wanted, length - index);
    System.arraycopy(bytes, index, target, offset, count);
    return count;
  }

  /**
   * Empties the array and offers it for bytes from {@code position} on: all of it to a reader that
   * goes on from what was here.
   */
  ByteBuffer refill(long position) {
    if (bytes.length == 0) {
      room = ByteBuffer.allocate(CAPACITY);
      bytes = room.array();
    }
    room.clear().limit(position == start + length ? CAPACITY : AFTER_JUMP_BYTES);
    start = position;
    length = 0;
    return room;
  }

  /** So many bytes have been put into what {@link #refill} offered. */
  void filled(int count) {
    length = count;
  }

  void clear() {
    room = NONE;
    bytes = NONE.array();
    length = 0;
  }
}
