// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import io.s3e.block.ByteRange;
import java.util.Arrays;
import java.util.function.LongUnaryOperator;

/** Parts of one kind that lie outside the chunks they belong to, by chunk; length 0 for none. */
final class Extras {
  /** In place of a length that the file does not tell. */
  static final int UNTOLD = -1;

  private final int columns;
  private final long[] start;
  private final int[] length;

  Extras(int groups, int columns) {
    this.columns = columns;
    start = new long[groups * columns];
    length = new int[groups * columns];
  }

  void set(int chunk, long from, int bytes) {
    start[chunk] = from;
    length[chunk] = bytes;
  }

  /**
   * Has each part of untold length go on to the next one, or to where {@code endOfGap} says that
   * something else begins; one that would be longer than {@code most} counts as absent.
   */
  void extend(LongUnaryOperator endOfGap, int most) {
    long next = Long.MAX_VALUE;
    for (int i = start.length - 1; i >= 0; i--) {
      if (length[i] == UNTOLD) {
        long bytes = Math.min(next, endOfGap.applyAsLong(start[i])) - start[i];
        length[i] = bytes > 0 && bytes <= most ? (int) bytes : 0;
      }
      next = length[i] == 0 ? next : start[i];
    }
  }

  /** The part of a chunk; empty if none is known. */
  ByteRange rangeOf(int group, int column) {
    int chunk = group * columns + column;
    return ByteRange.ofLength(start[chunk], length[chunk]);
  }

  /**
   * Puts each absent part where the one before it ends, so that starts ascend. A part that does not
   * lie behind the one before it, and before {@code limit}, counts as absent.
   */
  void order(long limit) {
    long end = 0;
    for (int i = 0; i < start.length; i++) {
      if (length[i] == 0 || start[i] < end || length[i] > limit - start[i]) {
        start[i] = end;
        length[i] = 0;
      } else {
        end = start[i] + length[i];
      }
    }
  }

  /** The chunk whose part holds {@code offset}; -1 if none does. */
  int at(long offset) {
    int i = lastStart(start, 0, start.length, offset);
    return i >= 0 && offset < start[i] + length[i] ? i : -1;
  }

  /** From the first to the last byte of the parts of groups {@code [from, to)}. */
  ByteRange span(int from, int to) {
    int first = from * columns;
    int last = to * columns - 1;
    while (first <= last && length[first] == 0) {
      first++;
    }
    return first > last
        ? new ByteRange(0, 0)
        : new ByteRange(start[first], start[last] + length[last]);
  }

  /** The last of the ascending {@code starts} not beyond {@code offset}; else from - 1. */
  static int lastStart(long[] starts, int from, int to, long offset) {
    int found = Arrays.binarySearch(starts, from, to, offset);
    if (found < 0) {
      return -found - 2;
    }
    while (found + 1 < to && starts[found + 1] == offset) {
      found++;
    }
    return found;
  }
}
