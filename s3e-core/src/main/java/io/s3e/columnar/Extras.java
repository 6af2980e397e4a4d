package io.s3e.columnar;

import io.s3e.block.ByteRange;
import java.util.Arrays;

/** Parts of one kind that lie outside the chunks they belong to, by chunk; length 0 for none. */
final class Extras {
  /** In place of a length that the file does not tell. */
  static final int UNTOLD = -1;

  private final long[] start;
  private final int[] length;

  Extras(int chunks) {
    start = new long[chunks];
    length = new int[chunks];
  }

  void set(int chunk, long from, int bytes) {
    start[chunk] = from;
    length[chunk] = bytes;
  }

  /** Copies the starts of the parts that are there to the front of {@code target}; how many. */
  int copyStarts(long[] target) {
    int count = 0;
    for (int i = 0; i < start.length; i++) {
      if (length[i] != 0) {
        target[count++] = start[i];
      }
    }
    return count;
  }

  /** The start of the first part; {@code otherwise} if there is none. */
  long first(long otherwise) {
    long first = otherwise;
    for (int i = 0; i < start.length; i++) {
      if (length[i] != 0) {
        first = Math.min(first, start[i]);
      }
    }
    return first;
  }

  /**
   * Has each part of untold length go on to the next of the first {@code count} sorted {@code
   * bounds}; one that would be longer than {@code most} counts as absent.
   */
  void extend(long[] bounds, int count, int most) {
    for (int i = 0; i < start.length; i++) {
      if (length[i] == UNTOLD) {
        int next = lastStart(bounds, count, start[i]) + 1;
        long bytes = next < count ? bounds[next] - start[i] : 0;
        length[i] = bytes <= most ? (int) bytes : 0;
      }
    }
  }

  ByteRange rangeOf(int chunk) {
    return start.length == 0
        ? new ByteRange(0, 0)
        : ByteRange.ofLength(start[chunk], length[chunk]);
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
    int i = lastStart(start, start.length, offset);
    return i >= 0 && offset < start[i] + length[i] ? i : -1;
  }

  /** From the first to the last byte of the parts of chunks {@code [from, to)}. */
  ByteRange span(int from, int to) {
    if (start.length == 0 || from >= to) {
      return new ByteRange(0, 0);
    }
    int first = from;
    while (first < to && length[first] == 0) {
      first++;
    }
    return first == to
        ? new ByteRange(0, 0)
        : new ByteRange(start[first], start[to - 1] + length[to - 1]);
  }

  static int lastStart(long[] starts, int count, long offset) {
    return lastStart(starts, 0, count, offset);
  }

  /**
   * The last of the ascending {@code starts} that is no more than {@code offset}; else from - 1.
   */
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
