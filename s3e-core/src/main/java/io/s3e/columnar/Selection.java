// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.prefetch.BlockPieces;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The part of a group that a reader wants, and so of any other group: columns of a Parquet file; of
 * an ORC file streams, where footers of stripes have been seen; else, since streams lie nearly
 * alike in all stripes, ranges relative to the start of the stripe. Not thread-safe.
 *
 * <p>Relative ranges are bounded by {@value #MAX_RANGES}.
 */
final class Selection {
  private static final int MAX_RANGES = 1 << 10;

  /** A range that is new by less than this part of it is that of another stripe, moved a little. */
  private static final int NEW_PART = 4;

  private final FileLayout layout;
  private final FileLayout.FilePart part;
  private final BitSet columns = new BitSet();

  /** Bytes of a stripe, as blocks of one byte. */
  private final BlockPieces<Boolean> relative = new BlockPieces<>();

  private final OrcStripes stripes;
  private final Set<Integer> names = new HashSet<>();

  /** All that is wanted was read of stripes whose streams were known. */
  private boolean isNamed = true;

  /** {@code part} is DATA or STRIPE_INDEX: where the ranges of an ORC file lie. */
  Selection(FileLayout layout, FileLayout.FilePart part, OrcStripes stripes) {
    this.stripes = stripes;
    this.layout = layout;
    this.part = part;
  }

  /** Ordinals of the columns; a copy. */
  BitSet columns() {
    return (BitSet) columns.clone();
  }

  /** Whether it is known to want the columns of {@code other}. */
  boolean hasColumnsOf(Selection other) {
    return layout.format == FileLayout.Format.PARQUET
        ? columns.equals(other.columns)
        : isNamed && other.isNamed && names.equals(other.names);
  }

  /** Wants these columns too; whether that is more than before. */
  boolean add(BitSet others) {
    int before = columns.cardinality();
    // What an earlier run has told may have columns that this file has not.
    columns.or(others.get(0, layout.columns));
    return columns.cardinality() > before;
  }

  /** Wants what {@code [from, to)} is of {@code group} too; whether that is more than before. */
  boolean add(int group, long from, long to) {
    if (layout.format == FileLayout.Format.ORC) {
      long start = layout.group(group).start();
      isNamed &= stripes.has(group);
      int before = names.size();
      stripes.addNames(group, from, to, names);
      // By name a stream may be new where another lay in the stripes before.
      boolean isNew = isNamed && names.size() > before;
      return addRelative(from - start, to - start) || isNew;
    }
    int before = columns.cardinality();
    int first = layout.isOrdered ? layout.columnAt(group, from) : 0;
    for (int column = Math.max(0, first); column < layout.columns; column++) {
      ByteRange chunk = layout.chunk(group, column);
      if (layout.isOrdered && chunk.start() >= to) {
        break;
      }
      if (chunk.start() < to && chunk.end() > from && !chunk.isEmpty()) {
        columns.set(column);
      }
    }
    return columns.cardinality() > before;
  }

  private boolean addRelative(long from, long to) {
    long added = 0;
    for (BlockRange each : relative.missingFrom(new BlockRange(from, to))) {
      if (relative.size() < MAX_RANGES) {
        relative.add(each, true);
        added += each.count();
      }
    }
    return added * NEW_PART > to - from;
  }

  /** The wanted bytes of {@code group} from an offset on, ascending and apart from each other. */
  List<ByteRange> rangesOf(int group, long from) {
    ByteRange within = layout.group(group);
    if (layout.format == FileLayout.Format.ORC) {
      ByteRange data = layout.stripeData(group);
      boolean isIndex = part == FileLayout.FilePart.STRIPE_INDEX;
      within = isIndex ? new ByteRange(within.start(), data.start()) : data;
    }
    List<ByteRange> joined = new ArrayList<>();
    for (ByteRange each : partsOf(group, from)) {
      long start = Math.max(each.start(), Math.max(from, within.start()));
      long end = Math.min(each.end(), within.end());
      int last = joined.size() - 1;
      if (start < end && last >= 0 && joined.get(last).end() == start) {
        joined.set(last, new ByteRange(joined.get(last).start(), end));
      } else if (start < end) {
        joined.add(new ByteRange(start, end));
      }
    }
    return joined;
  }

  /** Chunks from the one at {@code from} on, or streams; of unknown stripes what lies there. */
  private List<ByteRange> partsOf(int group, long from) {
    if (layout.format == FileLayout.Format.ORC && isNamed && stripes.has(group)) {
      return stripes.rangesOf(group, names);
    }
    List<ByteRange> parts = new ArrayList<>();
    long start = layout.group(group).start();
    relative.forEach(
        (each, mark) -> parts.add(new ByteRange(start + each.first(), start + each.end())));
    int at = group * layout.columns;
    int end = layout.isOrdered ? at + layout.columns : at;
    int first = Extras.lastStart(layout.chunkStart, at, end, from) - at;
    for (int c = columns.nextSetBit(Math.max(0, first)); c >= 0; c = columns.nextSetBit(c + 1)) {
      parts.add(layout.chunk(group, c));
    }
    if (!layout.isOrdered) {
      parts.sort(Comparator.comparingLong(ByteRange::start));
    }
    return parts;
  }
}
