// SPDX-License-Identifier: Apache-2.0
package io.s3e.block;

/**
 * A run of adjacent blocks {@code [first, end)} of one object. Immutable; may be empty.
 *
 * @param first index of the first block, 0 or more
 * @param end index after the last block, at least {@code first}
 */
public record BlockRange(long first, long end) {
  public BlockRange {
    if (first < 0 || end < first) {
      throw new IllegalArgumentException(
          "blocks [" + first + ", " + end + ") are not 0 <= first <= end");
    }
  }

  /** Number of blocks. */
  public long count() {
    return end - first;
  }

  /** Whether the run holds no block. */
  public boolean isEmpty() {
    return first == end;
  }

  /** Whether {@code block} is one of the run. */
  public boolean contains(long block) {
    return block >= first && block < end;
  }

  @Override
  public String toString() {
    return "blocks [" + first + ", " + end + ")";
  }
}
