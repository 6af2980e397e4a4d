// SPDX-License-Identifier: Apache-2.0
package io.s3e.block;

import java.util.List;
import java.util.Objects;

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

  /** How many blocks runs have that do not overlap. */
  public static long count(List<BlockRange> runs) {
    return runs.stream().mapToLong(BlockRange::count).sum();
  }

  /** Adds {@code run} to the end of {@code runs}: as one with the last if they touch or overlap. */
  public static void append(List<BlockRange> runs, BlockRange run) {
    int last = runs.size() - 1;
    BlockRange before = last < 0 ? run : Objects.requireNonNull(runs.get(last));
    if (last >= 0 && run.first >= before.first && run.first <= before.end) {
      runs.set(last, new BlockRange(before.first, Math.max(before.end, run.end)));
    } else {
      runs.add(run);
    }
  }

  @Override
  public String toString() {
    return "blocks [" + first + ", " + end + ")";
  }
}
