package io.s3e.disk;

/**
 * Bytes at places in time and the sum of those after a place, both in O(log n): a Fenwick tree. One
 * thread at a time.
 */
final class BytesByTime {
  private final long[] bytes;

  /** Sum over the places that the lowest set bit of the index spans, ending at index - 1. */
  private final long[] sums;

  private long total;

  BytesByTime(int places) {
    this.bytes = new long[places];
    this.sums = new long[places + 1];
  }

  int places() {
    return bytes.length;
  }

  long get(int place) {
    return bytes[place];
  }

  void set(int place, long value) {
    long change = value - bytes[place];
    bytes[place] = value;
    total += change;
    for (int i = place + 1; i < sums.length; i += i & -i) {
      sums[i] += change;
    }
  }

  /** The sum of all places after this one. */
  long sumAfter(int place) {
    long upTo = 0;
    for (int i = place + 1; i > 0; i -= i & -i) {
      upTo += sums[i];
    }
    return total - upTo;
  }
}
