// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.block.ByteRange;

/**
 * The longest GET that the way to one reader brings whole: halved where answers of that length
 * break off, doubled again where they come. Some links cut every body after so many bytes, and some
 * clients hand a body over only when it is whole: a shorter GET is all that gets through there.
 *
 * <p>One answer that breaks off says nothing of its length; the fourth in a row, with none of at
 * least half the length in between, does: where one in ten breaks by chance, one row in ten
 * thousand is so long. Any thread.
 */
final class LongestGet {
  /** No limit is lower, and parts end at multiples of it. */
  static final int SHORTEST_BYTES = 64 << 10;

  private static final long UNLIMITED = Long.MAX_VALUE;

  /** No GET is longer. */
  private static final long MOST_BYTES = 1L << 30;

  static final int BROKEN_IN_ROW = 4;
  private static final int WHOLE_TO_DOUBLE = 4;
  private static final int MOST_WHOLE_TO_DOUBLE = 64;

  /** Read without the lock. */
  private volatile long bytes = UNLIMITED;

  // Guarded by this.
  private int brokenInRow;
  private long longestBroken;
  private int whole;
  private int wholeToDouble = WHOLE_TO_DOUBLE;

  /** Whether it was doubled since it was last halved. */
  private boolean hasGrown;

  /** In bytes; {@link Long#MAX_VALUE} where no limit is known. */
  long bytes() {
    return bytes;
  }

  /**
   * The first part of {@code missing}, which ends at a multiple of {@link #SHORTEST_BYTES}.
   *
   * @param most its length at most, in bytes; {@link #SHORTEST_BYTES} or more
   */
  static ByteRange firstPart(ByteRange missing, long most) {
    if (missing.length() <= most) {
      return missing;
    }
    long end = (missing.start() + most) / SHORTEST_BYTES * SHORTEST_BYTES;
    return new ByteRange(missing.start(), end);
  }

  /** Half of a GET that broke off, in bytes. */
  static long half(long length) {
    return Math.max(SHORTEST_BYTES, length / 2);
  }

  /** An answer of that length broke off, or was awaited in vain. */
  synchronized void broke(long length) {
    if (length <= SHORTEST_BYTES || length > bytes) {
      return;
    }
    longestBroken = Math.max(longestBroken, length);
    brokenInRow++;
    if (brokenInRow >= BROKEN_IN_ROW) {
      if (hasGrown) {
        // It was doubled too early: the next time takes more to be tried again.
        wholeToDouble = Math.min(MOST_WHOLE_TO_DOUBLE, 2 * wholeToDouble);
      }
      bytes = half(Math.min(bytes, longestBroken));
      hasGrown = false;
      whole = 0;
      forgetBroken();
    }
  }

  synchronized void came(long length) {
    if (2 * length >= longestBroken) {
      forgetBroken();
    }
    if (bytes != UNLIMITED && 2 * length >= bytes && ++whole >= wholeToDouble) {
      whole = 0;
      bytes = bytes > MOST_BYTES / 2 ? UNLIMITED : 2 * bytes;
      hasGrown = bytes != UNLIMITED;
    }
  }

  private void forgetBroken() {
    brokenInRow = 0;
    longestBroken = 0;
  }
}
