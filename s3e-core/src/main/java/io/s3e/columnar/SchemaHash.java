package io.s3e.columnar;

/** FNV-1a in 64 bits, over the bytes of a schema. Two schemas of one engine hardly share one. */
final class SchemaHash {
  private static final long START = 0xCBF29CE484222325L;
  private static final long PRIME = 0x100000001B3L;

  private SchemaHash() {}

  static long of(byte[] bytes, int from, int to) {
    return go(START, bytes, from, to);
  }

  /** Goes on from the hash of what stands before. */
  static long go(long hash, byte[] bytes, int from, int to) {
    long value = hash;
    for (int i = from; i < to; i++) {
      value = (value ^ (bytes[i] & 0xFF)) * PRIME;
    }
    return value;
  }

  /** The hash of nothing. */
  static long start() {
    return START;
  }
}
