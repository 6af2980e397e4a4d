// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

/**
 * Reads bytes out of an array one after the other and never beyond an end, as the encodings of
 * footers need it. Allocates nothing. Not thread-safe.
 */
class BoundedReader {
  private static final int MAX_VARINT_BYTES = 10;

  final byte[] bytes;

  /** Index of the next byte. */
  int at;

  /** Index after the last byte. */
  int end;

  BoundedReader(byte[] bytes, int start, int end) {
    this.bytes = bytes;
    this.at = start;
    this.end = end;
  }

  final int remaining() {
    return end - at;
  }

  final int next() throws MalformedException {
    if (at >= end) {
      throw new MalformedException("cut off");
    }
    return bytes[at++] & 0xFF;
  }

  final long readVarint() throws MalformedException {
    long value = 0;
    for (int i = 0; i < MAX_VARINT_BYTES; i++) {
      int part = next();
      value |= (long) (part & 0x7F) << (7 * i);
      if (part < 0x80) {
        return value;
      }
    }
    throw new MalformedException("an integer of more than " + MAX_VARINT_BYTES + " bytes");
  }

  final void skipBytes(long count) throws MalformedException {
    if (count < 0 || count > remaining()) {
      throw new MalformedException("a value of " + count + " bytes where " + remaining() + " are");
    }
    at += (int) count;
  }
}
