// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.columnar.FileLayout.FilePart;
import io.s3e.columnar.FileLayout.FilePlace;
import io.s3e.prefetch.GuessKind;
import io.s3e.prefetch.TableLedger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Guesses of what a reader looks at before it reads columns: dictionary pages, Bloom filters, page
 * indexes; in ORC the footers and indexes of stripes. Not thread-safe.
 *
 * <p>Each part of each column is a <i>track</i>. A read of it in the first group of the split, or
 * in two groups in a row, says that it will be read in all that follow: to the split's end, or, if
 * that is not known and the track did not begin in the first group of the file, in 1, 2, 4 … more.
 * A part that is begun is asked for to its end.
 *
 * <p>Page indexes lie side by side for all groups: the first read of one asks for all of the
 * split's, if they are few bytes, else for those of its group. Whoever looks at dictionaries or
 * Bloom filters looks at page indexes next: very few bytes of them are asked for at once. A
 * dictionary that is read after that is data: of the pages that the indexes have picked.
 */
final class Filters {
  /** Columns that one query filters by. */
  private static final int MAX_TRACKS = 64;

  /** Groups that one read asks for. */
  private static final int MAX_GROUPS = 256;

  private static final int MAX_DOUBLINGS = 20;

  /** Page indexes of all groups, where the split is known. */
  private static final long MAX_INDEX_BYTES = 256 << 10;

  /** Page indexes of all groups, where it is not, or none of them was read yet. */
  private static final long MAX_UNSURE_INDEX_BYTES = 64 << 10;

  private record Key(FilePart part, int column) {}

  private static final class Track {
    private int group = -1;
    private int inRow;
    private int askedTo;
    private boolean isFromFirst;
  }

  private final FileLayout layout;
  private final Groups groups;
  private final Wanted wanted;
  private final TableLedger.OfStream guesses;
  private final Map<Key, Track> tracks = new HashMap<>();

  /** What is read of the indexes of ORC's stripes. */
  private final Selection indexes;

  private int pageIndexesTo = -1;

  /** Whether a page index was read. */
  private boolean picksPages;

  Filters(
      FileLayout layout,
      Groups groups,
      Wanted wanted,
      TableLedger.OfStream guesses,
      OrcStripes stripes) {
    this.layout = layout;
    this.groups = groups;
    this.wanted = wanted;
    this.guesses = guesses;
    this.indexes = new Selection(layout, FilePart.STRIPE_INDEX, stripes);
  }

  /** A read of {@code [from, to)} at a place that is no column data. */
  void onRead(FilePlace place, long from, long to) {
    groups.at(place.group(), layout);
    switch (place.part()) {
      case STRIPE_FOOTER, STRIPE_INDEX -> follow(place, from, to);
      case DICTIONARY, BLOOM_FILTER -> {
        askForRest(place, to);
        if (place.part() == FilePart.BLOOM_FILTER || !picksPages) {
          follow(place, from, to);
          askPageIndexesEarly();
        }
      }
      case COLUMN_INDEX, OFFSET_INDEX -> {
        picksPages = true;
        askPageIndexes(place.group());
      }
      case DATA, FOOTER, NOWHERE -> {}
    }
  }

  /** Not all was granted: the next read of a part asks for the rest again. */
  void askAgain() {
    tracks.values().forEach(track -> track.askedTo = track.group + 1);
    pageIndexesTo = -1;
  }

  private static GuessKind kindOf(FilePart part) {
    return switch (part) {
      case DICTIONARY -> GuessKind.DICTIONARY;
      case BLOOM_FILTER -> GuessKind.BLOOM_FILTER;
      case STRIPE_FOOTER -> GuessKind.STRIPE_FOOTER;
      default -> GuessKind.INDEX;
    };
  }

  /** A reader takes the head of a dictionary page or Bloom filter first, then all of it. */
  private void askForRest(FilePlace place, long from) {
    if (from < place.range().end() && guesses.admits(kindOf(place.part()))) {
      List<ByteRange> rest = List.of(new ByteRange(from, place.range().end()));
      wanted.add(runsOver(rest, wanted.grid), kindOf(place.part()), guesses);
    }
  }

  private void follow(FilePlace place, long from, long to) {
    Key key = new Key(place.part(), place.column());
    if (tracks.size() >= MAX_TRACKS && !tracks.containsKey(key)) {
      return;
    }
    Track track = tracks.computeIfAbsent(key, each -> new Track());
    int group = place.group();
    if (group != track.group) {
      track.inRow = group == track.group + 1 && track.group >= 0 ? track.inRow + 1 : 1;
      boolean begins = group == groups.first(layout);
      track.isFromFirst = begins || (track.isFromFirst && track.inRow > 1);
      track.group = group;
      track.askedTo = Math.max(track.askedTo, group + 1);
    }
    if (place.part() == FilePart.STRIPE_INDEX
        && indexes.add(group, from, Math.min(to, place.range().end()))) {
      track.askedTo = group + 1;
    }
    int end = endOf(track);
    if (track.askedTo < end && guesses.admits(kindOf(place.part()))) {
      askFor(place, track, end);
    }
  }

  private int endOf(Track track) {
    if (track.inRow < 2 && !track.isFromFirst) {
      return track.group + 1;
    }
    int end = groups.end(layout);
    if (groups.isEndKnown() || track.isFromFirst) {
      return end;
    }
    return Math.min(end, track.group + 1 + (1 << Math.min(MAX_DOUBLINGS, track.inRow - 2)));
  }

  private void askFor(FilePlace place, Track track, int end) {
    int until = Math.min(end, track.askedTo + MAX_GROUPS);
    List<ByteRange> ranges = new ArrayList<>();
    for (int group = track.askedTo; group < until; group++) {
      switch (place.part()) {
        case DICTIONARY -> ranges.add(layout.dictionary(group, place.column()));
        case BLOOM_FILTER -> ranges.add(layout.bloomFilters.rangeOf(group, place.column()));
        case STRIPE_FOOTER -> ranges.add(layout.stripeFooter(group));
        default -> ranges.addAll(indexes.rangesOf(group, 0));
      }
    }
    if (wanted.add(runsOver(ranges, wanted.grid), kindOf(place.part()), guesses)) {
      track.askedTo = until;
    }
  }

  private void askPageIndexes(int group) {
    if (group < pageIndexesTo || !guesses.admits(GuessKind.INDEX)) {
      return;
    }
    int end = groups.end(layout);
    long most = groups.isEndKnown() ? MAX_INDEX_BYTES : MAX_UNSURE_INDEX_BYTES;
    if (indexBytes(group, end) > most) {
      end = group + 1;
    }
    if (indexBytes(group, end) <= MAX_INDEX_BYTES) {
      askPageIndexes(group, end);
    }
  }

  private void askPageIndexesEarly() {
    int from = groups.first(layout);
    int to = groups.end(layout);
    boolean isFew = pageIndexesTo < 0 && indexBytes(from, to) <= MAX_UNSURE_INDEX_BYTES;
    if (isFew && guesses.admits(GuessKind.INDEX)) {
      askPageIndexes(from, to);
    }
  }

  private void askPageIndexes(int from, int to) {
    List<ByteRange> ranges =
        List.of(layout.columnIndexes.span(from, to), layout.offsetIndexes.span(from, to));
    if (wanted.add(runsOver(ranges, wanted.grid), GuessKind.INDEX, guesses)) {
      pageIndexesTo = to;
    }
  }

  private long indexBytes(int from, int to) {
    return layout.columnIndexes.span(from, to).length()
        + layout.offsetIndexes.span(from, to).length();
  }

  /** The blocks of {@code ranges}, in their order; what touches or overlaps is one run. */
  static List<BlockRange> runsOver(List<ByteRange> ranges, BlockLayout blocks) {
    List<BlockRange> runs = new ArrayList<>(ranges.size());
    for (ByteRange range : ranges) {
      BlockRange run = blocks.covering(range.start(), range.end());
      if (!run.isEmpty()) {
        BlockRange.append(runs, run);
      }
    }
    return runs;
  }
}
