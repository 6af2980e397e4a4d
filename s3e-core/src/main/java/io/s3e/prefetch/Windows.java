// SPDX-License-Identifier: Apache-2.0
package io.s3e.prefetch;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.prefetch.Cursors.Cursor;
import java.util.List;

/**
 * Window arithmetic of one stream's cursors: how large each window is, how far ahead that is, and
 * who gives way when the cap is reached. Counts in blocks. Not thread-safe.
 */
final class Windows {
  /**
   * Requests cost money: a reader that has come far has earned long ones, as long as this part of
   * what it has read. Where nobody waits they need not be short at all: a window is as large as
   * what was read since the last wait, but for an initial window, and cut into {@link
   * RequestSizing#LEAST_PARALLEL}.
   */
  private static final int EARNED_PART = 8;

  private static final int EARNED_WINDOW_PART = 4;

  /**
   * A stream of which nothing is known but that it begins at the front may be a look at a header,
   * and one that jumps may jump again: it pays for what is ahead of it by what it has read. A
   * reader that has come farther will go on as a rule.
   */
  private static final int EARNING_BYTES = 1 << 20;

  /** Longer runs are those of a reader that goes forward. */
  private static final int MOST_FORESEEN_BYTES = 8 << 20;

  /** A whole file will be read, so its window starts two doublings further. */
  private static final int WHOLE_FILE_FACTOR = 4;

  /**
   * How many times what was read a window may become by waits. A reader waits for each block of its
   * first GETs: without a bound, ten waits would ask for all that memory holds. In the simulation
   * scans take no longer; a reader that stops after 256 KiB has cost 15 MiB and not 64.
   */
  private static final int MOST_GROWTH = 64;

  private final BlockLayout layout;
  private final PrefetchLimits limits;
  private final RequestSizing sizing;
  private final Cursors cursors;
  private final AccessPattern pattern;
  private final long initial;
  private long limitBytes = Long.MAX_VALUE;
  private int inFlight = Integer.MAX_VALUE;
  private long minimumBytes;

  Windows(BlockLayout layout, PrefetchLimits limits, Cursors cursors, AccessPattern pattern) {
    this.layout = layout;
    this.limits = limits;
    this.sizing = RequestSizing.of(layout, limits);
    this.cursors = cursors;
    this.pattern = pattern;
    this.initial = layout.blocksOver(limits.initialWindowBytes());
  }

  void limit(long bytes, int requests) {
    limitBytes = Math.max(0, bytes);
    inFlight = Math.max(1, requests);
  }

  void setMinimum(long bytes) {
    minimumBytes = Math.max(0, bytes);
  }

  /** {@code cursor} begins a run. */
  void foresee(Cursor cursor) {
    long run = Math.min(pattern.foreseenRun(), MOST_FORESEEN_BYTES);
    long end = Math.min(layout.objectSize(), cursor.runStart + run);
    cursor.foreseen = layout.covering(cursor.runStart, end).count();
    cursor.foreseenTo = pattern.isTrusted() ? 0 : cursor.startBlock + cursor.foreseen;
  }

  /** How far all cursors together may be ahead. */
  long cap() {
    return Math.min(limits.maxWindowBytes(), limitBytes) / layout.blockSize();
  }

  long share() {
    return cap() / Math.max(1, cursors.active());
  }

  /** Whether {@code cursor} has read much more than looks, and the runs before it, have read. */
  boolean hasOutrun(Cursor cursor) {
    return cursor.read() > Math.max(layout.blocksOver(EARNING_BYTES), 2 * cursor.foreseen);
  }

  long windowOf(Cursor cursor) {
    if (cursor.earning) {
      long paid = Math.max(cursor.read(), cursor.foreseenTo - cursor.reached);
      return Math.min(Math.max(layout.blocksOver(minimumBytes), paid), share());
    }
    long shown = Math.max(cursor.sinceWait() - initial, cursor.read() / EARNED_WINDOW_PART);
    long earned = Math.min(RequestSizing.LEAST_PARALLEL * sizing.maxBlocks(), shown);
    long least = Math.max(layout.blocksOver(minimumBytes), earned);
    return Math.min(Math.max(cursor.windowBlocks, least), share());
  }

  /** The window of a cursor that begins to prefetch: no more than it has shown, if it has. */
  void open(Cursor cursor) {
    cursor.active = true;
    boolean isKnown = pattern.isTold() || cursor.continued;
    cursor.earning = !isKnown || !pattern.isTrusted();
    if (pattern.policy() == ReadPolicy.WHOLE_FILE) {
      cursor.windowBlocks = WHOLE_FILE_FACTOR * initial;
    } else if (cursor.continued) {
      long shown = 2 * layout.blocksOver(cursor.next - cursor.runStart);
      cursor.windowBlocks = Math.min(initial, Math.max(sizing.minBlocks(), shown));
    } else {
      cursor.windowBlocks = initial;
    }
  }

  /**
   * Whether {@code child} has skipped so much of what {@code parent} prefetched that it is another
   * run: more than was read since the last skip, and more than another GET is worth.
   */
  boolean isOtherRun(Cursor parent, Cursor child) {
    long skipped = child.startBlock - parent.reached;
    long read = parent.reached - parent.startBlock;
    return skipped > Math.max(read, layout.blocksOver(EARNING_BYTES));
  }

  /** {@code child} goes on in what {@code parent} prefetched: what lies ahead becomes its own. */
  void fork(Cursor parent, Cursor child) {
    child.active = parent.active;
    child.earning = parent.earning;
    child.windowBlocks = parent.windowBlocks;
    child.leastRequest = parent.leastRequest;
    child.continued = parent.continued;
    child.readBefore = parent.read();
    child.foreseen = parent.foreseen;
    child.foreseenTo = parent.foreseenTo;
    child.aheadTo = Math.max(child.aheadTo, parent.aheadTo);
    parent.aheadTo = Math.max(parent.reached, Math.min(parent.aheadTo, child.reached));
    parent.active = false;
    parent.continued = false;
  }

  /** The reader had to wait. */
  void grow(Cursor cursor) {
    if (!cursor.earning) {
      long most = (pattern.isTrusted() ? MOST_GROWTH : 1) * cursor.read();
      long grown = Math.min(2 * windowOf(cursor), most);
      cursor.windowBlocks = Math.min(share(), Math.max(cursor.windowBlocks, grown));
    }
  }

  /** What {@code cursor} wanted behind {@code aheadTo} was refused. */
  void shrink(Cursor cursor) {
    long window = windowOf(cursor);
    long request = requestOf(cursor, Long.MAX_VALUE);
    cursor.windowBlocks = sizing.refused(window, cursor.ahead(), inFlight);
    cursor.leastRequest = Math.min(2 * request, cursor.windowBlocks / RequestSizing.LEAST_PARALLEL);
    cursor.held = true;
  }

  /** Windows begin again: too much was wasted. */
  void fallBack() {
    for (Cursor cursor : cursors.leastRecentFirst()) {
      cursor.windowBlocks = Math.min(cursor.windowBlocks, initial);
      cursor.leastRequest = 0;
    }
  }

  /** Has {@code cursor} want whole requests up to its window's end now, as far as there is room. */
  void refill(Cursor cursor) {
    if (cursor.earning) {
      boolean isTrusted = pattern.isTrusted();
      cursor.earning = !hasOutrun(cursor) && !(isTrusted && pattern.isTold());
      if (cursor.earning && !cursor.pastAhead) {
        return;
      }
      if (!cursor.earning && !isTrusted) {
        cursor.windowBlocks = Math.min(cursor.windowBlocks, cursor.read());
      }
    }
    long limit = pattern.splitLimit;
    long window = windowOf(cursor);
    if (cursor.reached > limit + 1) {
      limit = layout.blocks();
      window = Math.min(window, sizing.minBlocks());
    }
    if (cursor.earning && cursor.reached < cursor.foreseenTo) {
      long least = cursor.reached + layout.blocksOver(minimumBytes);
      limit = Math.min(limit, Math.max(cursor.foreseenTo, least));
    }
    if (!mayAsk(cursor) || window == 0 || cursor.aheadTo >= limit) {
      return;
    }
    long target = Math.min(limit, cursor.reached + window);
    long request = Math.min(window, requestOf(cursor, limit - cursor.aheadTo));
    long more = sizing.refillEnd(cursor.aheadTo, target, limit, request) - cursor.aheadTo;
    if (more > 0) {
      cursor.aheadTo += Math.min(more, makeRoom(more, cursor));
    }
  }

  /**
   * How many blocks the window of {@code cursor} lacks until a request more is due, or until its
   * requests become shorter; 0 if that is not known.
   */
  long missing(Cursor cursor) {
    long limit = pattern.splitLimit;
    if (!mayAsk(cursor) || cursor.earning || cursor.reached >= limit) {
      return 0;
    }
    long missing = cursor.ahead();
    if (cursor.aheadTo < limit) {
      long window = windowOf(cursor);
      long target = cursor.reached + window;
      long request = Math.min(window, requestOf(cursor, limit - cursor.aheadTo));
      missing = Math.min(missing, Math.min(request - (target - cursor.aheadTo), limit - target));
      missing = window < share() ? Math.min(missing, share() - window) : missing;
    }
    return Math.max(0, missing);
  }

  void cut(Cursor cursor, BlockRange absent, List<BlockRange> requests) {
    long left = Math.max(cursor.aheadTo, pattern.splitLimit) - absent.first();
    sizing.cut(absent, requestOf(cursor, left), requests);
  }

  /** Length of a request, where prefetch goes on for {@code left} blocks. */
  private long requestOf(Cursor cursor, long left) {
    long window = windowOf(cursor);
    long shown =
        Math.max(cursor.sinceWait() / RequestSizing.LEAST_PARALLEL, cursor.read() / EARNED_PART);
    long earned = window < share() ? Math.min(shown, window / RequestSizing.LEAST_PARALLEL) : 0;
    // The last ones run alone: only who waits for them minds.
    long toEnd = cursor.sinceWait() < window ? left : Long.MAX_VALUE;
    return sizing.requestFor(window, inFlight, Math.max(cursor.leastRequest, earned), toEnd);
  }

  /** Whether what is absent ahead of {@code cursor} is to be asked for now. */
  boolean mayAsk(Cursor cursor) {
    return cursor.active && !cursor.held && windowOf(cursor) > 0;
  }

  /** Blocks that may still be wanted, once others have left what is beyond their share, if any. */
  private long makeRoom(long more, Cursor cursor) {
    for (Cursor other : cursors.leastRecentFirst()) {
      if (other != cursor && cap() - cursors.wanted().count() < more) {
        other.aheadTo = Math.min(other.aheadTo, other.reached + (other.active ? share() : 0));
      }
    }
    return Math.max(0, cap() - cursors.wanted().count());
  }
}
