package io.s3e.columnar;

import io.s3e.block.BlockLayout;
import io.s3e.block.ByteRange;
import io.s3e.columnar.FileLayout.FilePart;
import io.s3e.columnar.FileLayout.FilePlace;
import io.s3e.columnar.FileLayout.Format;
import io.s3e.columnar.Following.Manner;
import io.s3e.prefetch.GuessKind;
import io.s3e.prefetch.TableLedger;
import io.s3e.prefetch.VectorPlanner.Joining;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The reads of one stream of a file whose layout is known: which part of it each is of, and what
 * that says of the reads that come. Not thread-safe.
 */
final class ColumnReads {
  /** What a read was of. */
  enum Read {
    /** Dictionary page, Bloom filter, index, footer of a stripe. */
    FILTER,
    /** Data of a group. */
    COLUMN,
    /** The footer, or something that says nothing of the reader. */
    OTHER,
    /** No part of the layout, or more than one. */
    FOREIGN
  }

  /** A reader of a dictionary page fetches less than that of what is behind it. */
  private static final int MAX_GLANCE_BYTES = 8 << 10;

  private static final long NO_READ = -1;

  private final FileLayout layout;
  private final BlockLayout blocks;
  private final Groups groups;
  private final TableLedger.OfStream guesses;
  private final OrcStripes stripes;
  private final Filters filters;
  private final PickedPages pages;
  private final Following following;
  private boolean sawFilters;

  /** Offset after the last byte of the last read; {@link #NO_READ} before the first. */
  private long lastEnd = NO_READ;

  /** Where the first of the reads began that go on to the last one without a gap. */
  private long runStart;

  ColumnReads(
      FileLayout layout,
      BlockLayout blocks,
      Groups groups,
      Wanted wanted,
      TableMemory table,
      TableLedger.OfStream guesses,
      Joining joining,
      OrcCodecs codecs) {
    this.layout = layout;
    this.blocks = blocks;
    this.groups = groups;
    this.guesses = guesses;
    this.stripes = new OrcStripes(layout, codecs);
    this.filters = new Filters(layout, blocks, groups, wanted, guesses, stripes);
    this.pages = new PickedPages(layout);
    this.following = new Following(layout, blocks, groups, wanted, table, joining, pages, stripes);
  }

  /**
   * A read of {@code [position, end)}.
   *
   * @param isOwner whether those before it were planned for by the layout; if not, this one counts
   *     only if it begins where a part of the layout does, and not where the last one ended
   * @param wasExpected whether any of it was wanted
   */
  Read onRead(long position, long end, boolean isOwner, boolean wasExpected) {
    FilePlace place = layout.at(position);
    boolean goesOn = goesOn(position);
    if (!goesOn) {
      runStart = position;
    }
    lastEnd = end;
    boolean isHeard = isOwner || (place.startsAt(position) && !goesOn);
    if (!isHeard || place.part() == FilePart.FOOTER) {
      return Read.OTHER;
    }
    if (!isInGroup(place, end)) {
      return Read.FOREIGN;
    }
    if (isData(place, end)) {
      column(place.group(), position, end, Manner.SEEKS, wasExpected);
      return Read.COLUMN;
    }
    filter(place, position, end);
    return Read.FILTER;
  }

  /** A range of a vectored read. */
  Read onRange(ByteRange range, boolean wasExpected) {
    lastEnd = range.end();
    FilePlace place = layout.at(range.start());
    return switch (place.part()) {
      case DATA, DICTIONARY -> {
        if (!isInGroup(place, range.end())) {
          yield Read.OTHER;
        }
        runStart = range.start();
        column(place.group(), range.start(), range.end(), Manner.VECTORED, wasExpected);
        yield Read.COLUMN;
      }
      case STRIPE_INDEX, STRIPE_FOOTER, BLOOM_FILTER, COLUMN_INDEX, OFFSET_INDEX -> {
        filter(place, range.start(), range.end());
        yield Read.FILTER;
      }
      case FOOTER, NOWHERE -> Read.OTHER;
    };
  }

  /** The reader has gone to {@code position}, in a block that it reads without being heard of. */
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
        && position <= blocks.endOf(blocks.blockAt(lastEnd - 1));
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
    if (pages.isKnown(place.group())) {
      // Dictionaries are looked at before indexes.
      return true;
    }
    return end - place.range().end() >= MAX_GLANCE_BYTES
        || end - runStart >= Following.PIECE_BYTES
        || following.isChunkEnd(place.group(), end);
  }

  private void filter(FilePlace place, long from, long to) {
    if (place.part() != FilePart.STRIPE_FOOTER) {
      // Every reader of ORC reads those.
      sawFilters = true;
    }
    if (place.part() == FilePart.OFFSET_INDEX) {
      pages.onIndex(place.group(), place.column());
    }
    groups.at(place.group(), layout);
    stripes.at(place.group());
    filters.onRead(place, from, to);
  }

  private void column(int group, long from, long to, Manner manner, boolean wasExpected) {
    stripes.at(group);
    following.onRead(group, runStart, from, to, manner, wasExpected);
  }

  /** Asks for columns that are due; whether groups that follow are read ahead. */
  boolean ask() {
    if (guesses.admits(GuessKind.GROUP)) {
      following.ask(sawFilters, guesses);
    }
    return following.isOpen();
  }

  /** Whether more than the present group was to be asked for. */
  boolean isAhead() {
    return following.isAhead();
  }

  /** Not all that was wanted was granted. */
  void askAgain() {
    filters.askAgain();
    following.askAgain();
  }

  /**
   * Tells the table what was read.
   *
   * @return the data, if it is that of one group and in whole chunks; none otherwise
   */
  List<ByteRange> remember() {
    following.remember();
    return following.onlyGroup();
  }

  /** The bytes to be seen next: of a stripe's footer, or of offset indexes; null if none. */
  @Nullable ByteRange wants() {
    return layout.format() == Format.ORC ? stripes.wants() : pages.wants();
  }

  /** The bytes that were {@linkplain #wants wanted}. */
  void onBytes(ByteRange range, byte[] bytes) {
    if (layout.format() == Format.ORC) {
      stripes.onFooter(range, bytes);
      following.refine();
    } else {
      pages.onBytes(bytes);
    }
  }
}
