package io.s3e.prefetch;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import java.util.List;

/**
 * How a window is cut into requests. A small window is cut into many short requests, so that the
 * ramp-up buys parallelism first; once there are {@code parallelRamp} of them, a larger window
 * makes them longer, up to the request size.
 */
record RequestSizing(long minBlocks, long maxBlocks, int parallelRamp) {

  /** A last piece shorter than this share of a request is joined to the one before it. */
  private static final double MERGED_TAIL = 0.4;

  static RequestSizing of(BlockLayout layout, ReadPlanner.Limits limits) {
    long max = Math.max(1, limits.requestBytes() / layout.blockSize());
    long min = Math.min(max, layout.blocksOver(limits.smallRequestBytes()));
    return new RequestSizing(Math.max(1, min), max, limits.parallelRamp());
  }

  /** Length of a request, in blocks, for a window of {@code windowBlocks}. */
  long requestFor(long windowBlocks) {
    long share = Math.max(minBlocks, Math.min(maxBlocks, windowBlocks / parallelRamp));
    return Math.max(1, Math.min(share, windowBlocks));
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

  /** Cuts {@code run} into requests of {@code request} blocks and adds them to {@code requests}. */
  void cut(BlockRange run, long request, List<BlockRange> requests) {
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
