// SPDX-License-Identifier: Apache-2.0
package io.s3e.prefetch;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.prefetch.Cursors.Cursor;
import io.s3e.prefetch.Wish.Start;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decides what one stream fetches before it is asked for. Pure: told of reads and waits, it has a
 * {@link #wish}. No I/O, no threads, no clock, no locks: the caller serialises all calls. The same
 * calls give the same answers.
 *
 * <p><b>Cursors.</b> Each place where the stream reads forward is a cursor with a window of its
 * own. A read belongs to the cursor that ends nearest to it, if it is no farther than a small gap;
 * a read of a block that some cursor wants forks off that cursor and takes the rest of its window
 * along; any other read begins a cursor. Cursors that nothing has read for long are retired, and
 * what they alone wanted is not wanted any more.
 *
 * <p><b>When a cursor prefetches.</b> Never under {@link ReadPolicy#RANDOM}. Under {@link
 * ReadPolicy#SEQUENTIAL} and {@link ReadPolicy#WHOLE_FILE} from its first read in a stream that is
 * trusted, under {@link ReadPolicy#ADAPTIVE} from the stream's first, at the start of the split.
 * Else once reads have gone on from one block into the next, and one that began inside data already
 * read has waited for bytes, which memory probably holds.
 *
 * <p><b>How far.</b> Where the opener has said nothing, or the stream is not trusted, a cursor
 * <i>earns</i> its window: it is ahead by as much as it has read (docs/adr/0056). Otherwise the
 * window starts small and doubles for each wait of the reader, up to 64 times what it has read and
 * to the cap; after a refusal it falls to what was granted. It is cut into {@link
 * PrefetchLimits#parallelRamp} requests, or the stream's share of what is in flight at once, until
 * these have their full length; into fewer and longer ones where nobody waits, else towards the end
 * into shorter ones again (docs/adr/0040). Cursors that prefetch share the cap. Prefetch stops at
 * the split's end; a reader that goes on beyond it gets one small request ahead.
 *
 * <p><b>Trust</b> ends where more than a fifth of what was prefetched lately was never read, until
 * as much was, and after three short runs in a row (docs/adr/0056), until one is longer.
 *
 * <p>Invariants: wished ranges are inside the object and disjoint. No cursor wants a block that it
 * has read or passed. The blocks of all cursors never exceed the cap that held when they came to be
 * wanted; where it has become less since, nothing is asked for.
 */
public final class ReadPlanner {
  /** A forward skip or a step back of so many blocks is still the same cursor. */
  private static final int GAP_BLOCKS = 4;

  /** The period over which waste is counted, in initial windows, or in requests if longer. */
  private static final int LEDGER_WINDOWS = 8;

  private final BlockLayout layout;
  private final PrefetchLimits limits;
  private final AccessPattern pattern;
  final Cursors cursors = new Cursors();
  final Windows windows;

  /** Those of the ledger, as far as the windows know of them. */
  private int failedPeriods;

  public ReadPlanner(
      BlockLayout layout, ReadPolicy policy, @Nullable ByteRange split, PrefetchLimits limits) {
    this.layout = layout;
    this.limits = limits;
    int window = Math.max(limits.initialWindowBytes(), limits.requestBytes());
    Ledger ledger = new Ledger((long) LEDGER_WINDOWS * window);
    this.pattern = new AccessPattern(layout, ledger, policy, split);
    this.windows = new Windows(layout, limits, cursors, pattern);
  }

  /** A read of {@code length} bytes at {@code position} is about to be served. */
  public void onRead(long position, long length) {
    boolean isInside = length > 0 && position >= 0 && position < layout.objectSize();
    if (!isInside || wantsNothing()) {
      return;
    }
    long end = position + Math.min(length, layout.objectSize() - position);
    BlockRange touched = layout.covering(position, end);
    cursors.countRead(end - position);
    Cursor near = near(position);
    if (near != null && touched.count() == 1 && touched.end() == near.reached) {
      near.advance(position, end, touched);
      cursors.use(near);
    } else {
      onOtherBlock(near, position, end, touched);
    }
  }

  /**
   * Ranges of a vectored read are about to be served. Each counts as a read, and as a jump if no
   * cursor is near; but their reader says itself what it wants, so nothing is wanted ahead of it.
   */
  public void onRanges(List<ByteRange> ranges) {
    if (wantsNothing()) {
      return;
    }
    for (ByteRange range : ranges) {
      BlockRange touched = layout.covering(range.start(), range.end());
      if (touched.isEmpty()) {
        continue;
      }
      cursors.countRead(range.length());
      Cursor near = near(range.start());
      if (near != null) {
        near.advance(range.start(), range.end(), touched);
        cursors.use(near);
      } else if (pattern.onJump()) {
        endGuessing();
      }
      pattern.onPlanned();
    }
  }

  /** The cursor that a read belongs to; null if it has to be made. */
  private @Nullable Cursor near(long position) {
    Cursor near = cursors.near(position, (long) GAP_BLOCKS * layout.blockSize());
    if (near != null && !cursors.isLatest(near)) {
      endRun();
    }
    return near;
  }

  /** Whether the policy wants nothing ahead; nor what another has left, which is forgotten. */
  private boolean wantsNothing() {
    boolean isRandom = pattern.policy() == ReadPolicy.RANDOM;
    if (isRandom && cursors.wanted().count() > 0) {
      reset();
    }
    return isRandom;
  }

  private void onOtherBlock(@Nullable Cursor near, long position, long end, BlockRange touched) {
    Cursor cursor = near != null ? near : begin(position, touched);
    long nextBefore = cursor.next;
    if (cursor.advance(position, end, touched) && near != null) {
      cursor.continued = true;
    }
    cursors.use(cursor);
    cursor.expected = near != null && cursor.active && cursor.continued;
    if (near == null && cursor.origin == Cursor.CursorStart.JUMP && pattern.onJump()) {
      endGuessing();
    }
    pattern.onPlanned();
    absorbPassed(cursor, nextBefore);
    if (!cursor.active && pattern.hasShownEnough(cursor)) {
      windows.open(cursor);
    }
    if (cursor.active && cursor.continued && windows.hasOutrun(cursor)) {
      pattern.onForward();
    }
    plan(cursor);
  }

  private void plan(Cursor cursor) {
    if (failedPeriods != pattern.ledger.failedPeriods()) {
      failedPeriods = pattern.ledger.failedPeriods();
      windows.fallBack();
    }
    long idleBytes = 2L * limits.requestBytes() * Math.max(2, cursors.active());
    cursors.retire(idleBytes, 2L * limits.maxCursors(), limits.maxCursors());
    windows.refill(cursor);
  }

  /**
   * How many blocks more a reader that has come to offset {@code reached} may read, one after the
   * other, before it can want anything new: less than half of what is missing, since its window may
   * grow with each. 0 unless it is the one that came on last.
   */
  public long quietBlocks(long reached) {
    Cursor cursor = cursors.latest(each -> true);
    if (cursor == null || cursor.reached != layout.blocksOver(reached)) {
      return 0;
    }
    long quiet = Math.max(0, windows.missing(cursor) - 1) / 2;
    return quiet > 0 && cursors.wanted().count() <= windows.cap() ? quiet : 0;
  }

  /**
   * A reader really has to wait for the block at {@code position}, which its last {@link #onRead}
   * covered. Call it once for each wait: best when the wait begins, so that what the window gains
   * is under way during the wait. A hand-over between threads is not a wait.
   */
  public void onStall(long position) {
    Cursor cursor = cursors.latest(each -> each.isInLastRead(position));
    if (pattern.policy() == ReadPolicy.RANDOM || cursor == null) {
      return;
    }
    cursor.waitedAt = cursor.reached;
    cursors.use(cursor);
    if (cursor.active && !cursor.held) {
      windows.grow(cursor);
      // The first read may be the only one: what its wait has earned is wanted when it goes on.
      if (cursor.continued) {
        plan(cursor);
      }
    }
  }

  /**
   * What is wanted ahead of all cursors now. What is absent is asked for when its own reader comes
   * on, so of the cursor that read last alone; not of one that was refused, or has to show more.
   */
  public Wish wish() {
    BlockPieces<Cursor> wanted = cursors.wanted();
    if (wanted.count() == 0 || pattern.policy() == ReadPolicy.RANDOM) {
      return Wish.NOTHING;
    }
    boolean fits = wanted.count() <= windows.cap();
    List<Wish.Range> ranges = new ArrayList<>(wanted.size());
    wanted.forEach(
        (blocks, cursor) -> {
          Start now = cursor.expected || cursor.earning ? Start.WITH_READ : Start.NOW;
          boolean isDue = fits && cursors.isLatest(cursor) && windows.mayAsk(cursor);
          Wish.Cut cut = (absent, requests) -> windows.cut(cursor, absent, requests);
          Start start = isDue ? now : Start.LATER;
          ranges.add(new Wish.Range(blocks, GuessKind.WINDOW, pattern.ledger, start, cut));
        });
    return new Wish(ranges);
  }

  /**
   * Memory or concurrency refused {@code block} and all that is absent behind it. It is asked for
   * again when the reader has reached another block.
   *
   * <p>The window falls to what was granted, but not below half, and its requests become longer as
   * long as there are some in parallel: if concurrency is short, each request is worth more; if
   * memory is, the window has become smaller.
   */
  public void refused(long block, Ahead ahead) {
    Cursor cursor = cursors.wanting(block);
    if (cursor != null) {
      cursor.wantOnly(ahead);
      windows.shrink(cursor);
    }
  }

  /**
   * Caps the window by the stream's share of memory. May change at any time: where a cursor wants
   * more than its share then, only what is {@code ahead} stays.
   *
   * @param bytes how far to be ahead; less than a block stops prefetch
   * @param requests the stream's share of the requests that the client has in flight at once: a
   *     window is not cut into more of them, so long as they have their full length
   */
  public void limitWindow(long bytes, int requests, Ahead ahead) {
    windows.limit(bytes, requests);
    for (Cursor cursor : cursors.leastRecentFirst()) {
      if (cursor.ahead() > windows.share()) {
        cursor.wantOnly(ahead);
      }
    }
  }

  public AccessPattern pattern() {
    return pattern;
  }

  /** A cursor that prefetches is to be at least so far ahead, within the cap; 0 for no wish. */
  public void setMinimumReadahead(long bytes) {
    windows.setMinimum(bytes);
  }

  /** Forgets all cursors, as for unbuffer and close: nothing is wanted. */
  public void reset() {
    cursors.clear();
    pattern.reset();
  }

  /** A cursor for a read that none is near to: forked from one that prefetched it, or new. */
  private Cursor begin(long position, BlockRange touched) {
    Cursor parent = cursors.wanting(touched.first());
    if (parent != null) {
      Cursor child = new Cursor(position, touched.first(), Cursor.CursorStart.FORK);
      boolean isOther = !pattern.isTrusted() && windows.isOtherRun(parent, child);
      if (isOther) {
        endRun();
      }
      windows.fork(parent, child);
      if (isOther) {
        child.readBefore = 0;
        child.continued = false;
        child.earning = true;
        windows.foresee(child);
      }
      return child;
    }
    Cursor.CursorStart origin =
        cursors.latest(each -> each.hasRead(position)) != null
            ? Cursor.CursorStart.REREAD
            : Cursor.CursorStart.JUMP;
    Cursor cursor = new Cursor(position, touched.first(), origin);
    if (origin == Cursor.CursorStart.JUMP) {
      endRun();
      windows.foresee(cursor);
    }
    if (cursor.foreseenTo > cursor.startBlock || pattern.onBegin(cursor)) {
      windows.open(cursor);
    }
    return cursor;
  }

  /** The reader goes elsewhere, or for a moment to a place where it has been. */
  private void endRun() {
    Cursor last = cursors.latest(each -> true);
    if (last != null) {
      long bytes = last.next - last.runStart + last.readBefore * layout.blockSize();
      pattern.onRunEnd(last.continued ? bytes : 0);
    }
  }

  /** The stream jumps about: what a short run's evidence spoke for is not wanted any more. */
  private void endGuessing() {
    for (Cursor cursor : cursors.leastRecentFirst()) {
      if (!windows.hasOutrun(cursor)) {
        cursor.aheadTo = cursor.reached;
        cursor.active = false;
      }
    }
  }

  /** {@code cursor} has moved over the position of others: they are one reader now. */
  private void absorbPassed(Cursor cursor, long nextBefore) {
    List<Cursor> all = cursors.leastRecentFirst();
    for (int i = all.size() - 1; i >= 0; i--) {
      Cursor other = all.get(i);
      if (other != cursor && nextBefore < other.next && other.next <= cursor.next) {
        if (other.active) {
          cursor.earning = other.earning && (cursor.earning || !cursor.active);
        }
        cursor.active |= other.active;
        cursor.windowBlocks = Math.max(cursor.windowBlocks, other.windowBlocks);
        cursor.aheadTo = Math.max(cursor.aheadTo, other.aheadTo);
        all.remove(i);
      }
    }
  }
}
