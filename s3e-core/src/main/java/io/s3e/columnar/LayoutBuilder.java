package io.s3e.columnar;

/** Collects what a footer says, and refuses it if it cannot be. */
final class LayoutBuilder {
  final Layout.Format format;
  final long footerStart;
  final int groups;
  final int columns;
  final long[] groupStart;
  final long[] groupEnd;
  final long[] groupMark;
  final long[] chunkStart;
  final long[] chunkLength;
  final int[] dictionaryLength;
  final Extras bloomFilters;
  final Extras columnIndexes;
  final Extras offsetIndexes;
  final long[] stripeData;
  final long[] stripeFooter;
  long schema;
  int compression;
  int blockBytes;

  /** For a Parquet file. */
  static LayoutBuilder parquet(long footerStart, int groups, int columns)
      throws MalformedException {
    return new LayoutBuilder(Layout.Format.PARQUET, footerStart, groups, columns);
  }

  /** For an ORC file. */
  static LayoutBuilder orc(long footerStart, int stripes) throws MalformedException {
    return new LayoutBuilder(Layout.Format.ORC, footerStart, stripes, 0);
  }

  private LayoutBuilder(Layout.Format format, long footerStart, int groups, int columns)
      throws MalformedException {
    if ((long) groups * Math.max(1, columns) > Layout.MAX_CHUNKS) {
      throw new MalformedException(groups + " groups of " + columns + " columns are too many");
    }
    int chunks = groups * columns;
    int stripes = format == Layout.Format.ORC ? groups : 0;
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
    bloomFilters = chunks == 0 ? Extras.NONE : new Extras(chunks);
    columnIndexes = chunks == 0 ? Extras.NONE : new Extras(chunks);
    offsetIndexes = chunks == 0 ? Extras.NONE : new Extras(chunks);
    stripeData = new long[stripes];
    stripeFooter = new long[stripes];
  }

  void schema(long hash) {
    schema = hash;
  }

  void compression(int codec, int bytes) {
    compression = codec;
    blockBytes = bytes;
  }

  /** A chunk, with a dictionary page of {@code dictionary} bytes; 0 if it has none. */
  void chunk(int group, int column, long start, long length, long dictionary)
      throws MalformedException {
    requireInside(start, length);
    int i = group * columns + column;
    chunkStart[i] = start;
    chunkLength[i] = length;
    boolean known = dictionary > 0 && dictionary <= Math.min(length, Integer.MAX_VALUE);
    dictionaryLength[i] = known ? (int) dictionary : 0;
  }

  long chunkStart(int group, int column) {
    return chunkStart[group * columns + column];
  }

  /** Bytes of all chunks of a group. */
  long chunkBytes(int group) {
    long sum = 0;
    for (int i = group * columns; i < (group + 1) * columns; i++) {
      sum += chunkLength[i];
    }
    return sum;
  }

  /** The split that holds {@code mark} has the group. */
  void mark(int group, long mark) {
    groupMark[group] = mark;
  }

  void stripe(int stripe, long start, long index, long data, long footer)
      throws MalformedException {
    requireInside(start, index);
    requireInside(start + index, data);
    requireInside(start + index + data, footer);
    groupStart[stripe] = start;
    stripeData[stripe] = start + index;
    stripeFooter[stripe] = start + index + data;
    groupEnd[stripe] = start + index + data + footer;
    groupMark[stripe] = start;
  }

  private void requireInside(long start, long length) throws MalformedException {
    if (start < 0 || length < 0 || start > footerStart || length > footerStart - start) {
      throw new MalformedException(length + " bytes at " + start + " lie outside the data");
    }
  }

  Layout build() throws MalformedException {
    long end = 0;
    for (int group = 0; group < groups; group++) {
      if (format == Layout.Format.PARQUET) {
        encloseChunks(group);
      }
      if (groupStart[group] < end) {
        throw new MalformedException("groups overlap");
      }
      if (group > 0 && groupMark[group] < groupMark[group - 1]) {
        throw new MalformedException("groups belong to splits out of order");
      }
      end = groupEnd[group];
    }
    boolean ordered =
        bloomFilters.order(footerStart)
            && columnIndexes.order(footerStart)
            && offsetIndexes.order(footerStart);
    if (!ordered) {
      throw new MalformedException("filters or indexes out of order");
    }
    return new Layout(this);
  }

  private void encloseChunks(int group) throws MalformedException {
    long end = chunkStart[group * columns];
    groupStart[group] = end;
    for (int i = group * columns; i < (group + 1) * columns; i++) {
      if (chunkStart[i] < end) {
        throw new MalformedException("column chunks overlap");
      }
      end = chunkStart[i] + chunkLength[i];
    }
    groupEnd[group] = end;
  }
}
