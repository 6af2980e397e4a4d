// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.columnar.FileLayout.FilePart;
import io.s3e.columnar.FileLayout.FilePlace;
import io.s3e.columnar.FileLayout.Format;
import io.s3e.columnar.Following.Manner;
import io.s3e.prefetch.GuessKind;
import io.s3e.prefetch.TableLedger;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The reads of one stream of a file whose layout is known: which part of it each is of, and what
 * that says of the reads that come. Not thread-safe.
 *
 * <p>The stream is <i>owned</i> from a read on that begins where a part of the layout begins and
 * does not go on where the last read ended. Then dictionary pages, Bloom filters, indexes and
 * footers of stripes are told {@link Filters}; data of groups says which columns are wanted ({@link
 * Following}), and the layout plans alone where it {@linkplain #foresees foresees}. The stream is
 * <i>foreign</i>, another planner's for good, once three reads were of no part of the layout, and
 * none between them was of one.
 */
final class ColumnPlanner {
  private static final int MAX_FOREIGN_READS = 3;

  /** A reader of a dictionary page fetches less than that of what is behind it. */
  private static final int MAX_GLANCE_BYTES = 8 << 10;

  final FileLayout layout;
  private final Wanted wanted;

  /** Of the stream's table: the next planner of the same stream goes on with them. */
  final TableLedger.OfStream guesses;

  private final OrcStripes stripes;
  private final Filters filters;
  private final PickedPages pages;
  final Following following;
  private boolean isOwned;

  /** Reads of no part of the layout since the last one of a part. */
  private int foreignReads;

  private boolean sawFilters;

  /** The last read of a part was not of column data. */
  private boolean isFiltering;

  /** Offset after the last byte of the last read; 0 before the first. */
  private long lastEnd;

  /** Where the first of the reads began that go on to the last one without a gap. */
  private long runStart;

  ColumnPlanner(
      FileLayout layout,
      Groups groups,
      Wanted wanted,
      TableMemory table,
      @Nullable TableMemory past,
      TableLedger.OfStream guesses,
      long requestBytes) {
    this.layout = layout;
    this.wanted = wanted;
    this.guesses = guesses;
    this.stripes = new OrcStripes(layout);
    this.filters = new Filters(layout, groups, wanted, guesses, stripes);
    this.pages = new PickedPages(layout);
    this.following =
        new Following(layout, groups, wanted, table, past, requestBytes, pages, stripes);
  }

  /** Whether the reads of the stream are of parts of the layout. */
  boolean owns() {
    return isOwned && !isForeign();
  }

  /**
   * Whether the layout says what comes next; not where guesses of column data do not pay, and
   * nothing else is wanted.
   */
  boolean foresees() {
    return isFiltering || guesses.mayGuess(GuessKind.GROUP) || wanted.hasFilters();
  }

  boolean isForeign() {
    return foreignReads >= MAX_FOREIGN_READS;
  }

  /** A read of {@code [position, end)}; {@code wasExpected} if any of it was wanted. */
  void onRead(long position, long end, boolean wasExpected) {
    FilePlace place = layout.at(position);
    boolean goesOn = goesOn(position);
    if (!goesOn) {
      runStart = position;
    }
    lastEnd = end;
    boolean isHeard = owns() || (place.startsAt(position) && !goesOn);
    if (!isHeard || place.part() == FilePart.FOOTER) {
      return;
    }
    if (!isInGroup(place, end)) {
      foreignReads++;
      if (isForeign()) {
        wanted.clear();
      }
      return;
    }
    if (isData(place, end)) {
      column(place.group(), position, end, Manner.SEEKS, wasExpected);
    } else {
      filter(place, position, end);
    }
    ask();
  }

  /** As {@link #onRead}, of ranges that are read at once. */
  void onVectored(List<ByteRange> ranges, boolean wasExpected) {
    for (ByteRange range : ranges) {
      if (!range.isEmpty() && range.end() <= wanted.grid.objectSize()) {
        onRange(range, wasExpected);
      }
    }
    ask();
  }

  private void onRange(ByteRange range, boolean wasExpected) {
    lastEnd = range.end();
    FilePlace place = layout.at(range.start());
    if (place.part() == FilePart.FOOTER || !isInGroup(place, range.end())) {
      return;
    }
    if (place.part() == FilePart.DATA || place.part() == FilePart.DICTIONARY) {
      runStart = range.start();
      column(place.group(), range.start(), range.end(), Manner.VECTORED, wasExpected);
    } else {
      filter(place, range.start(), range.end());
    }
  }

  void onSeek(long position) {
    FilePlace place = layout.at(position);
    if (place.part() == FilePart.OFFSET_INDEX) {
      pages.onIndex(place.group(), place.column());
    }
  }

  /** Whether a read follows the last one: what lay in the same block was not heard of. */
  private boolean goesOn(long position) {
    return lastEnd > 0
        && position >= lastEnd
        && position <= wanted.grid.endOf(wanted.grid.blockAt(lastEnd - 1));
  }

  /** Whether a read stays in its group, as far as it is in one. */
  private boolean isInGroup(FilePlace place, long end) {
    return switch (place.part()) {
      case DATA, DICTIONARY -> end <= layout.group(place.group()).end();
      case NOWHERE -> false;
      default -> true;
    };
  }

  /** Whether a read is of column data; a reader of a dictionary page reads that and no more. */
  private boolean isData(FilePlace place, long end) {
    if (place.part() != FilePart.DICTIONARY) {
      return place.part() == FilePart.DATA;
    }
    // Dictionaries are looked at before indexes.
    return pages.isKnown(place.group())
        || end - place.range().end() >= MAX_GLANCE_BYTES
        || end - runStart >= Following.PIECE_BYTES
        || following.isChunkEnd(place.group(), end);
  }

  private void own() {
    foreignReads = 0;
    isOwned = true;
  }

  private void filter(FilePlace place, long from, long to) {
    own();
    // Every reader of ORC reads footers of stripes.
    sawFilters |= place.part() != FilePart.STRIPE_FOOTER;
    following.hasFiltered = true;
    isFiltering = true;
    if (place.part() == FilePart.OFFSET_INDEX) {
      pages.onIndex(place.group(), place.column());
    }
    stripes.at(place.group());
    filters.onRead(place, from, to);
  }

  private void column(int group, long from, long to, Manner manner, boolean wasExpected) {
    own();
    isFiltering = false;
    stripes.at(group);
    following.onRead(group, runStart, from, to, manner, wasExpected);
    if (!guesses.mayGuess(GuessKind.GROUP)) {
      BlockRange all = new BlockRange(0, wanted.grid.blocks());
      wanted.drop(all, kind -> kind.isData() || kind == GuessKind.TAIL);
      following.askAgain(0);
    }
  }

  private void ask() {
    if (guesses.admits(GuessKind.GROUP)) {
      following.ask(sawFilters, guesses);
    }
  }

  void onStall() {
    following.onStall();
    ask();
  }

  /** Not all that was wanted from {@code block} on was granted. */
  void askAgain(long block) {
    filters.askAgain();
    following.askAgain(block);
  }

  /** The bytes to be seen next: of a stripe's footer, or of offset indexes; null if none. */
  @Nullable ByteRange wants() {
    if (!owns()) {
      return null;
    }
    return layout.format == Format.ORC ? stripes.wants() : pages.wants();
  }

  void onBytes(ByteRange range, byte[] bytes, OrcCodecs codecs) {
    if (layout.format == Format.ORC) {
      stripes.onFooter(range, bytes, codecs);
      following.refine(layout.groupAt(range.start()));
    } else {
      pages.onBytes(bytes);
    }
  }
}
