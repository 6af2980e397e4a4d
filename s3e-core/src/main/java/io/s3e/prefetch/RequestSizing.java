// SPDX-License-Identifier: Apache-2.0
package io.s3e.prefetch;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import java.util.List;
import java.util.function.LongPredicate;

/**
 * How a window is cut into requests. A small window is cut into many short requests, so that the
 * ramp-up buys parallelism first; once there are {@code parallelRamp} of them, a larger window
 * makes them longer, up to the request size. Towards the end they become shorter again, so that the
 * last ones do not run alone, but no shorter than two of the shortest: the gain is not worth a GET.
 */
public record RequestSizing(long minBlocks, long maxBlocks, int parallelRamp) {
  /** An object of so many bytes comes by one GET as soon as a part of it is read. */
  public static final long SMALL_OBJECT_BYTES = 1 << 20;

  /** Requests that column data is cut into are no shorter: 1 MiB came no sooner, and cost more. */
  public static final long LEAST_OF_DATA_BYTES = 2 << 20;

  /** Refusals do not make requests so long that a window holds fewer of them. */
  public static final int LEAST_PARALLEL = 4;

  /**
   * What is there already is fetched over where it is no longer than this: to begin another GET
   * behind it takes a connection as long as about two of them (30 ms to the first byte, 60 MB/s).
   */
  private static final long ISLAND_BYTES = 1 << 20;

  /** One block may be fetched over for so many that are absent. */
  private static final int ABSENT_PER_ISLAND = 4;

  /** A last piece shorter than this share of a request is joined to the one before it. */
  private static final double MERGED_TAIL = 0.4;

  public static RequestSizing of(BlockLayout layout, PrefetchLimits limits) {
    long max = Math.max(1, limits.requestBytes() / layout.blockSize());
    long min = Math.min(max, layout.blocksOver(limits.smallRequestBytes()));
    return new RequestSizing(Math.max(1, min), max, limits.parallelRamp());
  }

  /**
   * Length of a request, in blocks.
   *
   * @param window blocks in the window
   * @param granted requests that the stream may have in flight as its share: where these are few,
   *     there is nothing to ramp up to, and short ones only take each other's connections
   * @param least length that refusals have asked for
   * @param left blocks from the request's start to where prefetch ends
   */
  public long requestFor(long window, int granted, long least, long left) {
    long parallel = Math.max(1, Math.min(parallelRamp, granted));
    long byWindow = Math.max(minBlocks, Math.max(least, window / parallel));
    long request = Math.min(maxBlocks, byWindow);
    long taper = Math.max(2 * minBlocks, left / parallel);
    return Math.max(1, Math.min(Math.min(request, taper), window));
  }

  /**
   * What a refusal leaves of a window, in blocks: as much as is {@code ahead}, but not below half;
   * and a whole request where few are {@code granted}, since a shorter one would not be granted
   * sooner.
   */
  public long refused(long window, long ahead, int granted) {
    long least = granted < parallelRamp ? maxBlocks : minBlocks;
    return Math.max(Math.max(least, window / 2), Math.min(window, ahead));
  }

  /**
   * Where a refill ends that starts at {@code from}: whole requests up to {@code target}, or {@code
   * limit} where that is no more than a merged tail farther. {@code from} if not even one whole
   * request is due.
   */
  long refillEnd(long from, long target, long limit, long request) {
    if (target >= limit) {
      return limit;
    }
    long end = from + (target - from) / request * request;
    return end > from && isMergedTail(limit - end, request) ? limit : end;
  }

  /**
   * Block after the last one that is absent and that one run from {@code first} on brings: blocks
   * that are there end a run, unless they are an island in it, which is fetched over. What an
   * island is worth is told by all of the run: one right behind its first block may be small beside
   * what follows.
   *
   * @param first absent
   * @param limit block that the run ends at
   * @param isIsland whether a block that is there may be fetched over
   */
  public static long untilGap(
      long first, long limit, BlockLayout layout, LongPredicate isThere, LongPredicate isIsland) {
    long longest = ISLAND_BYTES / layout.blockSize();
    long over = 0;
    long end = first + 1;
    long worthIt = end;
    for (long at = end; at < limit; at++) {
      if (!isThere.test(at)) {
        over += at - end;
        end = at + 1;
        worthIt = over <= mostIslands(end - first) ? end : worthIt;
      } else if (at - end >= longest
          || over + at - end >= mostIslands(limit - first)
          || !isIsland.test(at)) {
        return worthIt;
      }
    }
    return worthIt;
  }

  /** How many of so many blocks of a run may be islands. */
  public static long mostIslands(long blocks) {
    return blocks / (1 + ABSENT_PER_ISLAND);
  }

  /** Cuts {@code run} into requests of {@code request} blocks and adds them to {@code requests}. */
  public void cut(BlockRange run, long request, List<BlockRange> requests) {
    long at = run.first();
    while (run.end() - at > request) {
      long rest = run.end() - at - request;
      long length = request;
      if (isMergedTail(rest, request)) {
        // One longer request where that is allowed, else two of the same length.
        length = request + rest <= maxBlocks ? request + rest : (request + rest + 1) / 2;
      }
      requests.add(new BlockRange(at, at + length));
      at += length;
    }
    if (at < run.end()) {
      requests.add(new BlockRange(at, run.end()));
    }
  }

  private static boolean isMergedTail(long blocks, long request) {
    return blocks > 0 && blocks < request * MERGED_TAIL;
  }
}
