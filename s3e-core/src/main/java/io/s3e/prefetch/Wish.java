// SPDX-License-Identifier: Apache-2.0
package io.s3e.prefetch;

import io.s3e.block.BlockRange;
import java.util.List;

/**
 * What one reader wants ahead of it, as it is now and not as it has changed: whoever asks twice is
 * told the same. Blocks that are not in it are not wanted. Nothing is said of what is there, on its
 * way or absent, which {@link Ahead} compares it with.
 *
 * @param ranges the most urgent first; inside the object, disjoint and not empty
 */
public record Wish(List<Range> ranges) {
  public static final Wish NOTHING = new Wish(List.of());

  /** Whether a block is wanted. */
  public boolean contains(long block) {
    for (Range range : ranges) {
      if (range.blocks.contains(block)) {
        return true;
      }
    }
    return false;
  }

  /** When what is absent of a range is to be asked for. */
  public enum Start {
    /** Not now: what came, or is on its way, stays. */
    LATER,
    NOW,
    /** Now; and by the GET of a read beside it, if that sends one: both should come together. */
    WITH_READ
  }

  /** How an absent part of a range is cut into requests. */
  @FunctionalInterface
  public interface Cut {
    /** All blocks by one request. */
    Cut NONE = (absent, requests) -> requests.add(absent);

    /** Adds the requests for {@code absent}, in order. */
    void cut(BlockRange absent, List<BlockRange> requests);
  }

  /**
   * Blocks that are wanted for one reason.
   *
   * @param judge is told what becomes of the blocks
   * @param group the ranges of the wish that have the same are of use together only: what is absent
   *     of them is started at once, or none of it; {@link #ALONE} for none
   */
  public record Range(
      BlockRange blocks, GuessKind kind, GuessJudge judge, Start start, Cut cut, int group) {
    /** In place of the number of a group. */
    public static final int ALONE = 0;

    public Range(BlockRange blocks, GuessKind kind, GuessJudge judge, Start start, Cut cut) {
      this(blocks, kind, judge, start, cut, ALONE);
    }

    /** What is left of it, or all. */
    public Range of(BlockRange left, Start from) {
      boolean isSame = from == start && left.count() == blocks.count();
      return isSame ? this : new Range(left, kind, judge, from, cut, group);
    }
  }
}
