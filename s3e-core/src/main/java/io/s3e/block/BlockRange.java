// SPDX-License-Identifier: Apache-2.0
package io.s3e.block;

/** A run of adjacent blocks {@code [first, end)} of one object. Immutable; may be empty. */
public record BlockRange(long first, long end) {
  public BlockRange {
    if (first < 0 || end < first) {
      throw new IllegalArgumentException(
          "blocks [" + first + ", " + end + ") are not 0 <= first <= end");
    }
  }

  public long count() {
    return end - first;
  }

  public boolean isEmpty() {
    return first == end;
  }

  public boolean contains(long block) {
    return block >= first && block < end;
  }

  @Override
  public String toString() {
    return "blocks [" + first + ", " + end + ")";
  }
}
