// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import io.s3e.block.ByteRange;

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
  public enum Format {
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

  private final Format format;
  private final long footerStart;
  private final int groups;
  private final int columns;

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
    bloomFilters = new Extras(chunks);
    columnIndexes = new Extras(chunks);
    offsetIndexes = new Extras(chunks);
    stripeData = new long[stripes];
    stripeFooter = new long[stripes];
  }

  public Format format() {
    return format;
  }

  /** First byte of what describes the file, at its end. */
  public long footerStart() {
    return footerStart;
  }

  /** A hash of the schema as it is written: files of one table have the same, as a rule. */
  public long schema() {
    return schema;
  }

  public int groups() {
    return groups;
  }

  /** Number of column chunks in a group; 0 for ORC, whose streams each stripe tells for itself. */
  public int columns() {
    return columns;
  }

  /** What it takes of the heap, in bytes, to within a few. */
  public int weight() {
    return FIXED_BYTES + groups * (GROUP_BYTES + 16) + chunkStart.length * CHUNK_BYTES;
  }

  /** The bytes of a group; of a stripe with its footer. */
  public ByteRange group(int group) {
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

  /** The first group of a split; {@link #groups} if it has none behind its start. */
  int firstGroupOf(ByteRange split) {
    return Extras.lastStart(groupMark, 0, groups, split.start() - 1) + 1;
  }

  /** The group after the last one of a split. */
  int endGroupOf(ByteRange split) {
    return Extras.lastStart(groupMark, 0, groups, split.end() - 1) + 1;
  }

  /** The bytes of a column chunk, its dictionary page first. Parquet only. */
  public ByteRange chunk(int group, int column) {
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
  public ByteRange dictionary(int group, int column) {
    int i = group * columns + column;
    return ByteRange.ofLength(chunkStart[i], dictionaryLength[i]);
  }

  /** The Bloom filter of a chunk; empty if none is known. */
  public ByteRange bloomFilter(int group, int column) {
    return bloomFilters.rangeOf(group * columns + column);
  }

  public ByteRange offsetIndex(int group, int column) {
    return offsetIndexes.rangeOf(group * columns + column);
  }

  /** From the first to the last byte of the column indexes of groups {@code [from, to)}. */
  ByteRange columnIndexes(int from, int to) {
    return columnIndexes.span(from * columns, to * columns);
  }

  /** From the first to the last byte of the offset indexes of groups {@code [from, to)}. */
  ByteRange offsetIndexes(int from, int to) {
    return offsetIndexes.span(from * columns, to * columns);
  }

  /** The data of a stripe: what its index and its footer enclose. ORC only. */
  ByteRange stripeData(int stripe) {
    return new ByteRange(stripeData[stripe], stripeFooter[stripe]);
  }

  public ByteRange stripeFooter(int stripe) {
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
    int chunk = offsetIndexes.at(offset);
    if (chunk >= 0) {
      return outside(FilePart.OFFSET_INDEX, offsetIndexes, chunk);
    }
    chunk = columnIndexes.at(offset);
    if (chunk >= 0) {
      return outside(FilePart.COLUMN_INDEX, columnIndexes, chunk);
    }
    chunk = bloomFilters.at(offset);
    return chunk < 0 ? FilePlace.NOWHERE : outside(FilePart.BLOOM_FILTER, bloomFilters, chunk);
  }

  private FilePlace outside(FilePart part, Extras extras, int chunk) {
    return new FilePlace(part, chunk / columns, chunk % columns, extras.rangeOf(chunk));
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

  @Override
  public String toString() {
    return format + " of " + groups + " groups, " + columns + " columns";
  }
}
