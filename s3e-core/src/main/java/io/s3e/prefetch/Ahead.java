// SPDX-License-Identifier: Apache-2.0
package io.s3e.prefetch;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.prefetch.BlockPieces.Piece;
import io.s3e.prefetch.Wish.Range;
import io.s3e.prefetch.Wish.Start;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.LongPredicate;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The blocks that are wished for ahead of one reader and were asked for, found there, or read
 * meanwhile: the one record of them. Compared with a {@link Wish}, it says what is still to be
 * asked for and what is to be given up. Pure; not thread-safe.
 *
 * <p><b>A block</b> comes in as started, by {@link #started}, or because a look found it there. It
 * leaves when a look finds that it is not wished for (used, if the reader has come to it, else
 * wasted), or when {@link #verify} finds it absent. One that is absent and wished for is asked for
 * again by the next look; but never more of them than the reader has read and are ahead of it now,
 * so that a store which refuses everything is not asked without end. The others are <i>given up</i>
 * until the reader comes to one of them.
 *
 * <p><b>Judgement.</b> What was started is told to the ledger of its range: of windows what one
 * step ends, of what a layout says whole guesses, which groups are, once the last block is gone.
 * Blocks that were there cost nothing and are not judged. Nor is what a window gives up at its end
 * to become smaller.
 *
 * <p>{@link #look} twice is harmless: the second gives nothing up, and answers with the same starts
 * until somebody has made them.
 */
public final class Ahead {
  /** A tail of so many bytes comes by the same GET as the read, for nothing. */
  private static final long FREE_TAIL_BYTES = 64 << 10;

  /** A run to ask for, and what it is wanted for. */
  public record Starting(BlockRange blocks, Range of) {
    /** Index behind the last of {@code runs} that is of use only with the one at {@code first}. */
    public static int endOfGroup(List<Starting> runs, int first) {
      int group = runs.get(first).of.group();
      int end = first + 1;
      while (group != Range.ALONE && end < runs.size() && runs.get(end).of.group() == group) {
        end++;
      }
      return end;
    }
  }

  /** What a look found: runs to ask for, most urgent first, and ascending ones no more wanted. */
  public record Change(List<Starting> starting, List<BlockRange> dropped) {
    /** All is as it is wished. */
    public static final Change NONE = new Change(List.of(), List.of());

    /** Block up to which a GET for {@code read} is to go; no less than the end of that. */
    public long alongUntil(BlockRange read) {
      for (Starting each : starting) {
        if (each.of.start() == Start.WITH_READ && each.blocks.first() == read.end()) {
          return each.blocks.end();
        }
      }
      return read.end();
    }

    /**
     * Block from which a GET for {@code read} is to come: a tail is read from its end, a window is
     * not. No more than the start of the read.
     */
    public long alongFrom(BlockRange read) {
      for (Starting each : starting) {
        boolean isAlong = each.of.start() == Start.WITH_READ && each.of.kind().isColumnar();
        if (isAlong && each.blocks.end() == read.first()) {
          return each.blocks.first();
        }
      }
      return read.first();
    }

    /** Block up to which runs go on from {@code end} without a gap. */
    public long aheadUntil(long end) {
      long until = end;
      for (Starting each : starting) {
        if (each.blocks.first() == until) {
          until = each.blocks.end();
        }
      }
      return until;
    }
  }

  /** What was started of a run, or of a group of them; or why other blocks are in the record. */
  private static final class Guess {
    /** Somebody else has fetched them. */
    static final Guess THERE = new Guess(null);

    /** The reader has come to them, and they were wished for then. */
    static final Guess READ = new Guess(null);

    /** They were lost too often. */
    static final Guess GIVEN_UP = new Guess(null);

    private final @Nullable Range of;
    private long left;
    private long used;
    private long wasted;

    Guess(@Nullable Range of) {
      this.of = of;
    }

    /** Whether {@code range} is of use only with what this is, which is not over. */
    boolean isOpenFor(Range range) {
      boolean isOfGroup = range.group() != Range.ALONE && of != null && of.group() == range.group();
      return isOfGroup && left > 0;
    }
  }

  private enum End {
    USED,
    WASTED,
    /** It did not come, or nobody is to blame that it is not wanted. */
    WITHDRAWN
  }

  private final BlockLayout layout;
  private final ObjLongConsumer<Counter> listener;
  private final BlockPieces<Guess> pieces = new BlockPieces<>();
  private @Nullable Guess latest;
  private long read;
  private long askedAgain;

  /** What the present step has ended of windows, which counts as one guess; null if nothing. */
  private @Nullable Guess step;

  /**
   * @param listener hears of each byte that was started for what a layout says, and that it was
   *     used, wasted or withdrawn, exactly one of these; holds up whoever calls
   */
  public Ahead(BlockLayout layout, ObjLongConsumer<Counter> listener) {
    this.layout = layout;
    this.listener = listener;
  }

  /** Whether {@code block} should be there, or be on its way. */
  public boolean contains(long block) {
    return pieces.contains(block);
  }

  /** The reader comes to these bytes, as far as they are in the object. */
  public void onRead(ByteRange bytes) {
    BlockRange blocks = layout.covering(bytes.start(), bytes.end());
    read += blocks.count();
    boolean wasGivenUp = false;
    for (Piece<Guess> each : pieces.take(blocks)) {
      end(each, End.USED);
      wasGivenUp |= each.owner() == Guess.GIVEN_UP;
      pieces.add(each.blocks(), Guess.READ);
    }
    if (wasGivenUp) {
      // It cannot wait any longer for what follows.
      var unused = pieces.take(new BlockRange(0, Long.MAX_VALUE), each -> each == Guess.GIVEN_UP);
    }
    settleStep();
  }

  /**
   * Compares what is ahead with what is wished for, and with what is in memory or on its way.
   * Nothing counts as started by that: see {@link #started}.
   */
  public Change look(Wish wish, LongPredicate isThere) {
    List<BlockRange> dropped = drop(wish);
    settleStep();
    List<Starting> starting = new ArrayList<>(2);
    List<BlockRange> requests = new ArrayList<>(2);
    for (Range range : wish.ranges()) {
      if (range.start() != Start.LATER) {
        for (BlockRange missing : pieces.missingFrom(range.blocks())) {
          cut(missing, range, isThere, requests);
        }
        for (BlockRange request : requests) {
          starting.add(new Starting(request, range));
        }
        requests.clear();
      }
    }
    return starting.isEmpty() && dropped.isEmpty() ? Change.NONE : new Change(starting, dropped);
  }

  /** Cuts what is absent of {@code missing} into requests; notes what is there. */
  private void cut(
      BlockRange missing, Range range, LongPredicate isThere, List<BlockRange> requests) {
    for (long from = missing.first(), to; from < missing.end(); from = to) {
      to = from;
      while (to < missing.end() && isThere.test(to)) {
        to++;
      }
      pieces.add(new BlockRange(from, to), Guess.THERE);
      if (to < missing.end()) {
        from = to;
        to = RequestSizing.untilGap(from, missing.end(), layout, isThere, block -> true);
        range.cut().cut(new BlockRange(from, to), requests);
      }
    }
  }

  private List<BlockRange> drop(Wish wish) {
    if (pieces.count() == 0) {
      return List.of();
    }
    List<BlockRange> dropped = new ArrayList<>(2);
    List<Range> ranges = wish.ranges();
    if (ranges.size() > 1) {
      ranges = new ArrayList<>(ranges);
      ranges.sort(Comparator.comparingLong(range -> range.blocks().first()));
    }
    long at = 0;
    boolean isBehindWindow = false;
    for (Range range : ranges) {
      drop(at, range.blocks().first(), isBehindWindow, dropped);
      at = range.blocks().end();
      isBehindWindow = range.kind() == GuessKind.WINDOW;
    }
    drop(at, layout.blocks(), isBehindWindow, dropped);
    return dropped;
  }

  /**
   * @param isBehindWindow whether the blocks before {@code from} are wanted as a window: what
   *     follows them without a gap made way, and was no wrong guess
   */
  private void drop(long from, long to, boolean isBehindWindow, List<BlockRange> dropped) {
    if (from >= to) {
      return;
    }
    long wayUntil = isBehindWindow ? from : Long.MIN_VALUE;
    for (Piece<Guess> each : pieces.take(new BlockRange(from, to))) {
      Range of = each.owner().of;
      boolean makesWay = each.blocks().first() == wayUntil;
      wayUntil = makesWay ? each.blocks().end() : wayUntil;
      boolean isWindow = of != null && of.kind() == GuessKind.WINDOW;
      end(each, makesWay && isWindow ? End.WITHDRAWN : End.WASTED);
      if (of != null) {
        BlockRange.append(dropped, each.blocks());
      }
    }
  }

  /**
   * These blocks were asked for: they are there, or on their way. A look of another thread may have
   * found them there before this was told.
   */
  public void started(BlockRange blocks, Range of) {
    var unused = pieces.take(blocks, guess -> guess == Guess.THERE);
    Guess guess = latest != null && latest.isOpenFor(of) ? latest : new Guess(of);
    latest = guess;
    for (BlockRange part : pieces.missingFrom(blocks)) {
      guess.left += part.count();
      pieces.add(part, guess);
      count(of.kind(), Counter.COLUMNAR_ASKED_BYTES, part);
    }
  }

  /** Block after the last one of {@code range} that should be there; its first if none should. */
  public long until(BlockRange range) {
    List<BlockRange> missing = pieces.missingFrom(range);
    BlockRange last = missing.isEmpty() ? null : missing.get(missing.size() - 1);
    return last == null || last.end() < range.end() ? range.end() : last.first();
  }

  /** Something did not come, or has left memory unread: forgets blocks that are not there. */
  public void verify(LongPredicate isThere) {
    List<BlockRange> absent = new ArrayList<>();
    pieces.forEach(
        (piece, guess) -> {
          boolean isExpected = guess != Guess.GIVEN_UP && guess != Guess.READ;
          for (long block = piece.first(); isExpected && block < piece.end(); block++) {
            if (!isThere.test(block)) {
              BlockRange.append(absent, new BlockRange(block, block + 1));
            }
          }
        });
    long ahead = pieces.count();
    for (BlockRange run : absent) {
      pieces.take(run).forEach(each -> end(each, End.WITHDRAWN));
      if (askedAgain + run.count() <= read + ahead) {
        askedAgain += run.count();
      } else {
        pieces.add(run, Guess.GIVEN_UP);
      }
    }
    settleStep();
  }

  private void end(Piece<Guess> left, End how) {
    BlockRange piece = left.blocks();
    Guess guess = left.owner();
    Range of = guess.of;
    if (of == null) {
      return;
    }
    GuessKind kind = of.kind();
    guess.left -= piece.count();
    Guess judged = kind.isColumnar() ? guess : step(of);
    switch (how) {
      case USED -> {
        judged.used += piece.count();
        count(kind, kind.used, piece);
      }
      case WASTED -> {
        judged.wasted += piece.count();
        count(kind, kind.wasted, piece);
      }
      case WITHDRAWN -> count(kind, Counter.COLUMNAR_WITHDRAWN_BYTES, piece);
    }
    if (kind.isColumnar() && guess.left == 0) {
      settle(of, guess);
    }
  }

  private Guess step(Range of) {
    step = step == null ? new Guess(of) : step;
    return step;
  }

  private void settleStep() {
    if (step != null && step.of != null) {
      settle(step.of, step);
    }
    step = null;
  }

  private void settle(Range of, Guess over) {
    long used = over.used * layout.blockSize();
    long wasted = over.wasted * layout.blockSize();
    if (of.kind() == GuessKind.TAIL) {
      // Nobody reads all of a tail: one that holds a footer has saved a round trip.
      boolean isFree = used + wasted <= FREE_TAIL_BYTES;
      used = isFree || used == 0 ? 0 : used + wasted;
      wasted = isFree || used > 0 ? 0 : wasted;
    }
    if (used + wasted > 0) {
      of.judge().settle(of.kind(), used, wasted);
    }
  }

  private void count(GuessKind kind, @Nullable Counter counter, BlockRange run) {
    if (counter != null && kind.isColumnar()) {
      listener.accept(counter, layout.bytesOf(run).length());
    }
  }
}
