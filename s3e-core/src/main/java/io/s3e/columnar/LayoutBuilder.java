// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import java.util.Arrays;

/** Collects the places that a footer tells, and refuses places that cannot be. */
final class LayoutBuilder {
  /** More than S3 stores; sums of a few such offsets do not overflow. */
  private static final long MAX_OBJECT_BYTES = 1L << 50;

  /** Chunks out of order are looked for one by one. */
  private static final int MAX_UNORDERED_COLUMNS = 2_000;

  /** A Bloom filter without a length that would be longer is not fetched ahead. */
  private static final int MAX_GUESSED_FILTER_BYTES = 4 << 20;

  /** Seen by nobody else before {@link #build}. */
  final FileLayout layout;

  /** Of an ORC file, whose columns only its stripes tell, with 0 columns. */
  LayoutBuilder(FileLayout.Format format, long footerStart, int groups, int columns)
      throws MalformedException {
    long chunks = (long) groups * Math.max(1, columns);
    if (chunks > FileLayout.MAX_CHUNKS || footerStart > MAX_OBJECT_BYTES) {
      String places = groups + " groups of " + columns + " columns before " + footerStart;
      throw new MalformedException(places + " are more than a file has");
    }
    layout = new FileLayout(format, footerStart, groups, columns);
  }

  /** A sum of 32 bits. A footer may lie of its columns: files of one table have as many. */
  void schema(long sum) {
    layout.schema = (long) layout.columns << Integer.SIZE ^ sum;
  }

  /** A chunk, with a dictionary page of {@code dictionary} bytes; 0 if it has none. */
  void chunk(int group, int column, long start, long length, long dictionary)
      throws MalformedException {
    requireInside(start, length);
    int i = group * layout.columns + column;
    layout.chunkStart[i] = start;
    layout.chunkLength[i] = length;
    boolean known = dictionary > 0 && dictionary <= Math.min(length, Integer.MAX_VALUE);
    layout.dictionaryLength[i] = known ? (int) dictionary : 0;
  }

  void stripe(int stripe, long start, long index, long data, long footer)
      throws MalformedException {
    requireInside(start, index);
    requireInside(start + index, data);
    requireInside(start + index + data + 1, footer - 1);
    layout.groupStart[stripe] = start;
    layout.stripeData[stripe] = start + index;
    layout.stripeFooter[stripe] = start + index + data;
    layout.groupEnd[stripe] = start + index + data + footer;
    layout.groupMark[stripe] = start;
  }

  void requireInside(long start, long length) throws MalformedException {
    if (start < 0 || length < 0 || length > layout.footerStart - start) {
      throw new MalformedException(length + " bytes at " + start + " lie outside the data");
    }
  }

  FileLayout build() throws MalformedException {
    long end = 0;
    for (int group = 0; group < layout.groups; group++) {
      if (layout.format == FileLayout.Format.PARQUET) {
        encloseChunks(group);
      }
      if (layout.groupStart[group] < end) {
        throw new MalformedException("groups overlap");
      }
      if (group > 0 && layout.groupMark[group] < layout.groupMark[group - 1]) {
        throw new MalformedException("groups belong to splits out of order");
      }
      end = layout.groupEnd[group];
    }
    layout.columnIndexes.order(layout.footerStart);
    layout.offsetIndexes.order(layout.footerStart);
    long columnIndexes = layout.columnIndexes.span(0, layout.groups).start();
    long offsetIndexes = layout.offsetIndexes.span(0, layout.groups).start();
    layout.bloomFilters.extend(
        offset -> endOfGap(offset, columnIndexes, offsetIndexes), MAX_GUESSED_FILTER_BYTES);
    layout.bloomFilters.order(layout.footerStart);
    return layout;
  }

  /** Where the next group begins behind {@code offset}, or the indexes or the footer. */
  private long endOfGap(long offset, long columnIndexes, long offsetIndexes) {
    int group = Extras.lastStart(layout.groupStart, 0, layout.groups, offset) + 1;
    long end = group < layout.groups ? layout.groupStart[group] : layout.footerStart;
    end = columnIndexes > offset ? Math.min(end, columnIndexes) : end;
    return offsetIndexes > offset ? Math.min(end, offsetIndexes) : end;
  }

  private void encloseChunks(int group) throws MalformedException {
    int columns = layout.columns;
    int from = group * columns;
    long[] starts = Arrays.copyOfRange(layout.chunkStart, from, from + columns);
    long[] ends = new long[columns];
    for (int column = 0; column < columns; column++) {
      ends[column] = starts[column] + layout.chunkLength[from + column];
      layout.isOrdered &= column == 0 || starts[column] >= ends[column - 1];
    }
    if (!layout.isOrdered && columns > MAX_UNORDERED_COLUMNS) {
      throw new MalformedException(columns + " columns, whose chunks are out of order");
    }
    Arrays.sort(starts);
    Arrays.sort(ends);
    for (int i = 1; i < columns; i++) {
      if (starts[i] < ends[i - 1]) {
        throw new MalformedException("column chunks overlap");
      }
    }
    layout.groupStart[group] = starts[0];
    layout.groupEnd[group] = ends[columns - 1];
  }
}
