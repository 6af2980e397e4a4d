// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import io.s3e.block.ByteRange;
import org.jspecify.annotations.Nullable;

/**
 * Where the parts of one Parquet or ORC file lie: row groups (ORC: stripes), and of a Parquet file
 * the column chunks of each, with their dictionary pages, Bloom filters, column and offset indexes.
 * Immutable once it is built. A chunk is known by its group and by its column, the ordinal of a
 * leaf of the schema.
 *
 * <p>Flat arrays: {@value #CHUNK_BYTES} bytes a chunk, {@value #GROUP_BYTES} a group, at most
 * {@value #MAX_CHUNKS} chunks and as many groups. The chunk of column c in group g has the index g
 * × columns + c.
 *
 * <p>Invariants, whatever the file says ({@link LayoutBuilder#build} refuses the rest): groups are
 * ascending and disjoint; chunks are disjoint and lie in their group, as a rule ascending by
 * ordinal ({@link #isOrdered}); all of that lies before {@link #footerStart}, which lies inside the
 * object. Filters and indexes lie there too, ascending by group and column; they may overlap
 * anything else.
 */
final class FileLayout {
  enum Format {
    PARQUET,
    ORC
  }

  /** The kinds of places that a reader goes to. */
  enum FilePart {
    /** Column chunks; in ORC the data of a stripe. */
    DATA,
    /** The dictionary page that a chunk begins with. */
    DICTIONARY,
    BLOOM_FILTER,
    COLUMN_INDEX,
    OFFSET_INDEX,
    /** Row indexes and Bloom filters in front of a stripe's data. */
    STRIPE_INDEX,
    STRIPE_FOOTER,
    /** The footer of the file, and what is behind it. */
    FOOTER,
    NOWHERE
  }

  /** Start and length of chunk and of three parts outside it, and of the dictionary a length. */
  static final int CHUNK_BYTES = 8 + 8 + 3 * (8 + 4) + 4;

  /** Start, end and mark. */
  static final int GROUP_BYTES = 3 * 8;

  /** 26 columns in 5,000 groups. */
  static final int MAX_CHUNKS = 1 << 17;

  /** Measured, of a file of one chunk: 17 objects and arrays, the key, and the entry of the map. */
  private static final int FIXED_BYTES = 1 << 10;

  final Format format;

  /** First byte of what describes the file, at its end. */
  final long footerStart;

  final int groups;

  /** Number of column chunks in a group; 0 for ORC, whose streams each stripe tells for itself. */
  final int columns;

  /** First byte of each group; of a stripe. */
  final long[] groupStart;

  /** After the last byte of each group; of a stripe's footer. */
  final long[] groupEnd;

  /** A group belongs to the split that holds this offset. */
  final long[] groupMark;

  final long[] chunkStart;
  final long[] chunkLength;

  /** 0 where a chunk has no dictionary page, or does not say where that ends. */
  final int[] dictionaryLength;

  final Extras bloomFilters;
  final Extras columnIndexes;
  final Extras offsetIndexes;

  /** First byte of the data and of the footer of each stripe; empty for Parquet. */
  final long[] stripeData;

  final long[] stripeFooter;

  /** A hash of the schema as it is written: files of one table have the same, as a rule. */
  long schema;

  /** Whether the chunks of each group stand in the order of the schema. */
  boolean isOrdered = true;

  /** Number of the codec of ORC's footers; 0 for none. */
  int compression;

  /** What a compressed chunk of such a footer holds at most. */
  int blockBytes;

  /** Of nothing but zeros: {@link LayoutBuilder} fills it before anybody else sees it. */
  FileLayout(Format format, long footerStart, int groups, int columns) {
    int chunks = groups * columns;
    int stripes = format == Format.ORC ? groups : 0;
    this.format = format;
    this.footerStart = footerStart;
    this.groups = groups;
    this.columns = columns;
    groupStart = new long[groups];
    groupEnd = new long[groups];
    groupMark = new long[groups];
    chunkStart = new long[chunks];
    chunkLength = new long[chunks];
    dictionaryLength = new int[chunks];
    bloomFilters = new Extras(groups, columns);
    columnIndexes = new Extras(groups, columns);
    offsetIndexes = new Extras(groups, columns);
    stripeData = new long[stripes];
    stripeFooter = new long[stripes];
  }

  /** What it takes of the heap, in bytes, to within a few. */
  int weight() {
    return FIXED_BYTES + groups * (GROUP_BYTES + 16) + chunkStart.length * CHUNK_BYTES;
  }

  /** The bytes of a group; of a stripe with its footer. */
  ByteRange group(int group) {
    return new ByteRange(groupStart[group], groupEnd[group]);
  }

  /** After the last byte of the last group. */
  long dataEnd() {
    return groups == 0 ? footerStart : groupEnd[groups - 1];
  }

  /** The group that holds {@code offset}; -1 if none does. */
  int groupAt(long offset) {
    int group = Extras.lastStart(groupStart, 0, groups, offset);
    return group >= 0 && offset < groupEnd[group] ? group : -1;
  }

  /** The first group of a split that begins at {@code offset}; {@link #groups} if it has none. */
  int groupFrom(long offset) {
    return Extras.lastStart(groupMark, 0, groups, offset - 1) + 1;
  }

  /** The bytes of a column chunk, its dictionary page first. Parquet only. */
  ByteRange chunk(int group, int column) {
    int i = group * columns + column;
    return ByteRange.ofLength(chunkStart[i], chunkLength[i]);
  }

  /** The column of the chunk of {@code group} that holds {@code offset}; -1 if none does. */
  int columnAt(int group, long offset) {
    int from = group * columns;
    if (!isOrdered) {
      for (int i = from; i < from + columns; i++) {
        if (chunkStart[i] <= offset && offset < chunkStart[i] + chunkLength[i]) {
          return i - from;
        }
      }
      return -1;
    }
    int found = Extras.lastStart(chunkStart, from, from + columns, offset);
    return found >= from && offset < chunkStart[found] + chunkLength[found] ? found - from : -1;
  }

  /** The dictionary page of a chunk; empty if none is known. */
  ByteRange dictionary(int group, int column) {
    int i = group * columns + column;
    return ByteRange.ofLength(chunkStart[i], dictionaryLength[i]);
  }

  /** The data of a stripe: what its index and its footer enclose. ORC only. */
  ByteRange stripeData(int stripe) {
    return new ByteRange(stripeData[stripe], stripeFooter[stripe]);
  }

  ByteRange stripeFooter(int stripe) {
    return new ByteRange(stripeFooter[stripe], groupEnd[stripe]);
  }

  /** What lies at an offset: its group, or -1; its column, -1 if none or several; all of it. */
  record FilePlace(FilePart part, int group, int column, ByteRange range) {
    private static final FilePlace NOWHERE =
        new FilePlace(FilePart.NOWHERE, -1, -1, new ByteRange(0, 0));

    boolean startsAt(long offset) {
      return !range.isEmpty() && range.start() == offset;
    }
  }

  /** What lies at {@code offset}; the dictionary of a chunk before the chunk. */
  FilePlace at(long offset) {
    if (offset >= footerStart) {
      return new FilePlace(FilePart.FOOTER, -1, -1, new ByteRange(footerStart, Long.MAX_VALUE));
    }
    int group = groupAt(offset);
    if (format == Format.ORC) {
      return group < 0 ? FilePlace.NOWHERE : inStripe(group, offset);
    }
    int column = group < 0 ? -1 : columnAt(group, offset);
    if (column >= 0) {
      ByteRange dictionary = dictionary(group, column);
      return offset < dictionary.end()
          ? new FilePlace(FilePart.DICTIONARY, group, column, dictionary)
          : new FilePlace(FilePart.DATA, group, column, chunk(group, column));
    }
    FilePlace place = among(offsetIndexes, FilePart.OFFSET_INDEX, offset);
    place = place == null ? among(columnIndexes, FilePart.COLUMN_INDEX, offset) : place;
    place = place == null ? among(bloomFilters, FilePart.BLOOM_FILTER, offset) : place;
    return place == null ? FilePlace.NOWHERE : place;
  }

  private @Nullable FilePlace among(Extras extras, FilePart part, long offset) {
    int chunk = extras.at(offset);
    if (chunk < 0) {
      return null;
    }
    int group = chunk / columns;
    int column = chunk % columns;
    return new FilePlace(part, group, column, extras.rangeOf(group, column));
  }

  private FilePlace inStripe(int stripe, long offset) {
    if (offset < stripeData[stripe]) {
      ByteRange index = new ByteRange(groupStart[stripe], stripeData[stripe]);
      return new FilePlace(FilePart.STRIPE_INDEX, stripe, -1, index);
    }
    return offset < stripeFooter[stripe]
        ? new FilePlace(FilePart.DATA, stripe, -1, stripeData(stripe))
        : new FilePlace(FilePart.STRIPE_FOOTER, stripe, -1, stripeFooter(stripe));
  }
}
