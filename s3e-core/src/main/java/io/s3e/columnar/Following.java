// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.columnar.FileLayout.FilePart;
import io.s3e.columnar.FileLayout.Format;
import io.s3e.prefetch.GuessJudge;
import io.s3e.prefetch.GuessKind;
import io.s3e.prefetch.RequestSizing;
import io.s3e.prefetch.TableLedger;
import io.s3e.prefetch.VectorPlanner;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * The column data of one stream: what is wanted of a group, and the same of the groups that follow
 * as one sequence of blocks. Not thread-safe.
 *
 * <p><b>The present group</b> is the one that was read last. Ranges of a vectored read name its
 * columns at once. Seeks name them as they come; the rest is what the group before had, or what the
 * latest reader of the table had that read those columns; or, for one that has read offset indexes,
 * the {@linkplain PickedPages pages of the same rows}.
 *
 * <p><b>The gate.</b> Groups that follow are asked for from the first group on, if its chunks are
 * read whole, no filter was read before it, and it is the one that a like reader began with, or
 * that a split does; else after two groups in a row or two that are as expected, while chunks are
 * read whole.
 *
 * <p><b>Which groups follow</b> is {@link GroupSequence}'s to say. A group that is skipped drops
 * what was asked of it, halves the window and begins a new row.
 */
final class Following {
  /** How a reader names the columns that it wants. */
  enum Manner {
    SEEKS,
    VECTORED
  }

  /** What a run of reads without a gap takes. */
  private enum Taken {
    /** Chunks from start to end, or a long piece from the start of one. */
    WHOLE,
    /** The start of a chunk, so far. */
    START,
    /** Something else: pages that are picked out. */
    PAGES
  }

  /** Readers of whole chunks fetch them in pieces of 8 MiB; those of pages less. */
  static final long PIECE_BYTES = 1 << 20;

  /** Groups that are asked for together; what finds no room is joined anew by the next look. */
  private static final int MOST_JOINED = 256;

  /** Chunks of which less is read are read in pages. */
  private static final double WHOLE_SHARE = 0.8;

  private final FileLayout layout;
  private final GroupSequence sequence;
  private final Wanted ahead;
  private final TableMemory table;
  private final @Nullable TableMemory past;
  private final long requestBytes;
  private final PickedPages pages;
  private final OrcStripes stripes;

  /** Pages that go with the last read of the present group. */
  private List<ByteRange> picked = List.of();

  /** What was read of the present group. */
  private Selection read;

  /** What is wanted of each group. */
  private Selection wanted;

  private int present = -1;
  private Manner manner = Manner.SEEKS;

  /** The group up to which all was asked for, but for those that are {@link #refined}. */
  private int askedTo;

  /** Stripes whose streams are known by now, each to be asked for once more. */
  private final Queue<Integer> refined = new ArrayDeque<>();

  /** Short groups that follow are asked for together, where one GET may bring them: up to this. */
  private final long leastBlocks;

  /** Offset after what was last read of the present group. */
  private long position;

  private long readBytes;

  /** A run of reads that is over took a part of a chunk. */
  private boolean hasPages;

  /** The run of reads that is not over. */
  private Taken taken = Taken.WHOLE;

  private boolean wasWhole = true;

  /** A group behind the present one was asked for: the window was made to hold it. */
  boolean hasOpened;

  /** Groups after the present one were to be asked for, and none was refused. */
  private boolean isAhead;

  /** The rest of the present group was asked for, of the columns that were wanted then. */
  private boolean isRestAsked;

  /** A like reader of the table is known. */
  private boolean hasLike;

  /** Where the run of reads began that goes on in another chunk, if nobody tells the columns. */
  private OptionalLong denseFrom = OptionalLong.empty();

  /** Something else than column data was read since the reader came to the present group. */
  boolean hasFiltered;

  Following(
      FileLayout layout,
      Groups groups,
      Wanted ahead,
      TableMemory table,
      @Nullable TableMemory past,
      long requestBytes,
      PickedPages pages,
      OrcStripes stripes) {
    this.layout = layout;
    this.pages = pages;
    this.sequence = new GroupSequence(layout, groups);
    this.ahead = ahead;
    this.table = table;
    this.past = past;
    this.requestBytes = requestBytes;
    this.stripes = stripes;
    this.read = new Selection(layout, FilePart.DATA, stripes);
    this.wanted = new Selection(layout, FilePart.DATA, stripes);
    this.leastBlocks = ahead.grid.blocksOver(RequestSizing.LEAST_OF_DATA_BYTES);
  }

  /**
   * A read of {@code [from, to)}, which lies in {@code group} and in its data.
   *
   * @param runStart where the first of the reads began that go on to this one without a gap
   * @param wasExpected whether any of it was wanted
   */
  void onRead(int group, long runStart, long from, long to, Manner how, boolean wasExpected) {
    if (group != present) {
      if (isAhead && !wasExpected && group == sequence.next(present)) {
        // The window had no room for it.
        ahead.grow();
      }
      enter(group);
    }
    manner = how;
    long start = Math.max(runStart, layout.group(group).start());
    hasPages |= start == from && taken != Taken.WHOLE;
    taken = takenBy(group, start, to);
    readBytes += to - from;
    position = Math.max(position, to);
    boolean grew = read.add(group, from, to);
    boolean isNew = wanted.add(group, from, to);
    if (grew && sequence.count == 1) {
      isNew |= recall();
    }
    boolean isDense =
        sequence.count == 1
            && !hasLike
            && how == Manner.SEEKS
            && layout.format == Format.PARQUET
            && layout.columnAt(group, start) != layout.columnAt(group, from);
    denseFrom = isDense ? OptionalLong.of(start) : OptionalLong.empty();
    picked = how == Manner.SEEKS && pages.isKnown(group) ? pages.alike(from, to) : List.of();
    if (isNew || !picked.isEmpty() || isDense) {
      askedTo = group;
    }
  }

  private Taken takenBy(int group, long start, long to) {
    if (layout.format == Format.ORC) {
      return Taken.WHOLE;
    }
    int first = layout.columnAt(group, start);
    if (first < 0 || layout.chunk(group, first).start() != start) {
      return Taken.PAGES;
    }
    boolean isLong = to - start >= PIECE_BYTES || isChunkEnd(group, to);
    return isLong ? Taken.WHOLE : Taken.START;
  }

  boolean isChunkEnd(int group, long offset) {
    int last = layout.columnAt(group, offset - 1);
    return last >= 0 && layout.chunk(group, last).end() == offset;
  }

  /** Wants what the latest like reader of the table wanted; whether that is more than before. */
  private boolean recall() {
    TableMemory.Scan like = table.like(read.columns());
    if (like == null && past != null) {
      like = past.like(read.columns());
    }
    hasLike = like != null;
    sequence.expect(like == null ? List.of() : like.visits());
    if (layout.format == Format.ORC || manner == Manner.VECTORED) {
      return false;
    }
    BitSet asked = isRestAsked ? wanted.columns() : new BitSet();
    wanted = new Selection(layout, FilePart.DATA, stripes);
    boolean unused = wanted.add(read.columns());
    return like != null && wanted.add(like.columns()) && !wanted.columns().equals(asked);
  }

  private void enter(int group) {
    if (hasOpened && group > present + 1 && group != sequence.next(present)) {
      ahead.halve();
    }
    boolean isAsAsked = false;
    if (present >= 0) {
      wasWhole = isPresentWhole();
      // What was asked of the groups that follow is what would be: a walk over all of them again,
      // at each of thousands of short groups, takes longer than their bytes.
      isAsAsked = group == sequence.next(present) && read.hasColumnsOf(wanted);
      wanted = read;
      read = new Selection(layout, FilePart.DATA, stripes);
    }
    ByteRange bytes = layout.group(group);
    BlockRange own = ahead.grid.covering(bytes.start(), bytes.end());
    // Dictionaries too, which it never came to read: they would hold the window for good.
    ahead.drop(new BlockRange(0, own.first()), Wanted.ALL);
    // What was guessed before the footer was known, and not of this group, was guessed wrongly.
    ahead.drop(
        new BlockRange(own.end(), ahead.grid.blocks()),
        kind -> kind == GuessKind.ALIKE || (!hasFiltered && kind == GuessKind.BLOOM_FILTER));
    if (group < present) {
      ahead.drop(new BlockRange(0, ahead.grid.blocks()), GuessKind::isData);
    }
    hasFiltered = false;
    isRestAsked = false;
    ahead.forgetReadBefore(own.first());
    present = group;
    position = bytes.start();
    readBytes = 0;
    hasPages = false;
    taken = Taken.WHOLE;
    askedTo = isAsAsked ? Math.max(askedTo, group) : group;
    isAhead = false;
    sequence.on(group);
  }

  private boolean isPresentWhole() {
    if (!hasPages && isWholeSoFar()) {
      return true;
    }
    long chunks = read.rangesOf(present, 0).stream().mapToLong(ByteRange::length).sum();
    return readBytes >= WHOLE_SHARE * chunks;
  }

  /** A reader that took whole chunks of the group before is believed when it begins one. */
  private boolean isWholeSoFar() {
    return taken == Taken.WHOLE || (taken == Taken.START && sequence.count > 1 && wasWhole);
  }

  /** Asks for what is due: the rest of the present group, then the groups that follow. */
  void ask(boolean sawFilters, TableLedger.OfStream guesses) {
    boolean hasRoom = ahead.hasRoom() && (manner == Manner.VECTORED || ahead.hasRequests());
    if (present < 0 || !hasRoom) {
      return;
    }
    boolean isWhole = isPresentWhole();
    int end = isWhole && sequence.mayFollow(sawFilters) ? sequence.end() : present + 1;
    isAhead |= end > present + 1;
    if (askedTo == present && denseFrom.isPresent() && isWhole) {
      // The first group does not say which columns come: as much again, as of any other file, and
      // no guess by what is known of the table.
      long until = 2 * position - denseFrom.getAsLong();
      ByteRange next = new ByteRange(position, Math.min(until, layout.group(present).end()));
      if (!ahead.add(runsOver(List.of(next)), GuessKind.GROUP, (kind, used, wasted) -> {})) {
        return;
      }
    }
    for (Integer known = refined.peek(); known != null; known = refined.peek()) {
      if (known >= present && known < askedTo && !add(known, runsOf(known), guesses)) {
        return;
      }
      var unused = refined.remove();
    }
    while (askedTo < end) {
      List<BlockRange> runs = runsOf(askedTo);
      if (askedTo > present && !hasOpened) {
        hasOpened = true;
        ahead.openFor(BlockRange.count(runs));
      }
      int next = sequence.next(askedTo);
      int most = askedTo > present ? Math.min(end, askedTo + MOST_JOINED) : next;
      while (next < most && BlockRange.count(runs) < leastBlocks) {
        List<BlockRange> joined = new ArrayList<>(runs);
        for (BlockRange run : runsOf(next)) {
          BlockRange.append(joined, run);
        }
        if (manner == Manner.VECTORED && joined.size() > 1) {
          // Such a group comes as a whole, by itself.
          break;
        }
        runs = joined;
        next = sequence.next(next);
      }
      if (!add(askedTo, runs, guesses)) {
        return;
      }
      askedTo = next;
    }
  }

  /** Wants these runs of {@code group}, and of short ones after it; false if room ran out. */
  private boolean add(int group, List<BlockRange> runs, TableLedger.OfStream guesses) {
    boolean isAtOnce = group > present && manner == Manner.VECTORED;
    GuessJudge judge = group > present ? guesses : guesses::settlePresent;
    return isAtOnce ? ahead.addGroup(runs, guesses) : ahead.add(runs, GuessKind.GROUP, judge);
  }

  private List<BlockRange> runsOf(int group) {
    if (group > present) {
      List<ByteRange> ranges = new ArrayList<>(wanted.rangesOf(group, 0));
      if (layout.format == Format.ORC) {
        ranges.add(layout.stripeFooter(group));
      }
      return runsOver(ranges);
    }
    if (pages.isKnown(group)) {
      return Filters.runsOver(picked, ahead.grid);
    }
    // A vectored read has named all of it; pages that are picked out are not to be guessed.
    boolean isGuessed = manner == Manner.SEEKS && wasWhole && !hasPages && isWholeSoFar();
    isRestAsked = isGuessed;
    return isGuessed ? runsOver(wanted.rangesOf(group, position)) : List.of();
  }

  private List<BlockRange> runsOver(List<ByteRange> ranges) {
    // What lies between would be fetched by the read, if it were not fetched with the rest.
    boolean isJoined = manner == Manner.VECTORED;
    List<ByteRange> spans =
        isJoined ? VectorPlanner.spans(ranges, ahead.grid.blockSize(), requestBytes) : ranges;
    return Filters.runsOver(spans, ahead.grid);
  }

  /** The reader waits for what the window had no room for, if anything was to be ahead of it. */
  void onStall() {
    if (isAhead || ahead.count() > 0) {
      ahead.grow();
    }
  }

  /** Not all was granted: what is missing is looked for from {@code block} on. */
  void askAgain(long block) {
    int group = layout.groupAt(ahead.grid.startOf(block));
    askedTo = Math.max(Math.max(0, present), Math.min(group, askedTo));
    isAhead = false;
  }

  /** The streams of another stripe are known: what was asked of it may not be all. */
  void refine(int stripe) {
    refined.add(stripe);
  }

  /** Tells the table what was read; the data, if it is one group's in whole chunks, else none. */
  List<ByteRange> remember() {
    if (sequence.count == 0 || !isPresentWhole()) {
      return List.of();
    }
    Selection all = sequence.count == 1 ? read : wanted;
    table.remember(all.columns(), sequence.visit());
    boolean isOne = sequence.count == 1 && layout.format == Format.PARQUET;
    return isOne ? read.rangesOf(present, 0) : List.of();
  }
}
