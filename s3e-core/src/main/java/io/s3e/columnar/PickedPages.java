// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import io.s3e.block.ByteRange;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The pages of one group that a reader by seeks picks out. It has read the group's offset indexes,
 * each of a column that it wants; the pages that it then reads of one column tell the rows, and the
 * rows tell the pages of the others. Parquet only. Not thread-safe.
 *
 * <p>The column of the most pages tells the rows best: once it was read, others tell none. A column
 * that is cut much finer than the one which tells the rows is not guessed: many of its pages could
 * hold none of those that are wanted.
 *
 * <p>Indexes are not trusted: pages lie in their chunk, ascending by bytes and by rows, or nothing
 * is guessed of that column. Memory is bounded by {@value #MAX_BYTES} bytes of indexes and less
 * than four times of it for what they say; it is given back with the next group.
 */
final class PickedPages {
  /** Offset indexes of a group that are looked at: 16 columns of 6 million rows take 50 KiB. */
  private static final int MAX_BYTES = 128 << 10;

  /** How many pages a column may have for each page of the one that tells the rows. */
  private static final int FINER = 2;

  private static final int INDEX_LOCATIONS = 1;
  private static final int LOCATION_OFFSET = 1;
  private static final int LOCATION_BYTES = 2;
  private static final int LOCATION_FIRST_ROW = 3;

  /** A location takes three fields of two bytes at least, and the end of a struct. */
  private static final int LEAST_LOCATION_BYTES = 7;

  /** Page i lies in {@code [starts[i], ends[i])}; its rows go to those of the next page. */
  private record Pages(long[] starts, long[] ends, long[] firstRows) {
    private static final Pages NONE = new Pages(new long[0], new long[0], new long[0]);

    int count() {
      return starts.length;
    }

    long rowAfter(int page) {
      return page + 1 < count() ? firstRows[page + 1] : Long.MAX_VALUE;
    }

    /** The rows of the pages that {@code [from, to)} touches; null if it touches none. */
    @Nullable ByteRange rowsOf(long from, long to) {
      long first = Long.MAX_VALUE;
      long after = 0;
      for (int page = 0; page < count(); page++) {
        if (starts[page] < to && ends[page] > from) {
          first = Math.min(first, firstRows[page]);
          after = rowAfter(page);
        }
      }
      return after == 0 ? null : new ByteRange(first, after);
    }

    /** From the first to the last page that holds any of these rows. */
    ByteRange holding(ByteRange rows) {
      long start = starts[count() - 1];
      long end = ends[0];
      for (int page = 0; page < count(); page++) {
        if (firstRows[page] < rows.end() && rowAfter(page) > rows.start()) {
          start = Math.min(start, starts[page]);
          end = ends[page];
        }
      }
      return new ByteRange(start, Math.max(start, end));
    }
  }

  private final FileLayout layout;

  /** Columns whose offset index was read, of {@link #group}. */
  private final BitSet columns = new BitSet();

  private final Map<Integer, Pages> pages = new HashMap<>();
  private int group = -1;
  private byte @Nullable [] indexes;

  /** Pages of the column that tells the rows best so far. */
  private int mostPages;

  PickedPages(FileLayout layout) {
    this.layout = layout;
  }

  /** A read begins at the offset index of a column. */
  void onIndex(int ofGroup, int column) {
    if (ofGroup != group) {
      columns.clear();
      pages.clear();
      indexes = null;
      mostPages = 0;
      group = ofGroup;
    }
    columns.set(column);
  }

  /** Whether the reader picks pages out of {@code ofGroup}, and it is known which there are. */
  boolean isKnown(int ofGroup) {
    return ofGroup == group && indexes != null;
  }

  /** The offset indexes of the group; null if they were seen, are too long, or of no use. */
  @Nullable ByteRange wants() {
    if (group < 0 || indexes != null) {
      return null;
    }
    ByteRange all = layout.offsetIndexes.span(group, group + 1);
    return all.isEmpty() || all.length() > MAX_BYTES ? null : all;
  }

  void onBytes(byte[] bytes) {
    indexes = bytes;
  }

  /** The pages that go with a read of {@code [from, to)} of the group's data, behind it. */
  List<ByteRange> alike(long from, long to) {
    List<ByteRange> ranges = new ArrayList<>();
    ByteRange rows = rowsOf(from, to);
    if (rows == null) {
      return ranges;
    }
    for (int c = columns.nextSetBit(0); c >= 0; c = columns.nextSetBit(c + 1)) {
      ByteRange chunk = layout.chunk(group, c);
      if (chunk.start() < to) {
        continue;
      }
      Pages known = pagesOf(c);
      if (known.count() > 0 && known.count() <= FINER * mostPages) {
        if (known.starts[0] > chunk.start()) {
          // Pages are read with their dictionary.
          ranges.add(new ByteRange(chunk.start(), known.starts[0]));
        }
        ranges.add(known.holding(rows));
      }
    }
    return ranges;
  }

  /** The rows of the pages that a read touches; null if none, or if another column tells better. */
  private @Nullable ByteRange rowsOf(long from, long to) {
    ByteRange rows = null;
    for (int c = columns.nextSetBit(0); c >= 0; c = columns.nextSetBit(c + 1)) {
      ByteRange chunk = layout.chunk(group, c);
      if (chunk.start() < to && chunk.end() > from && pagesOf(c).count() >= mostPages) {
        ByteRange told = pagesOf(c).rowsOf(from, to);
        if (told != null) {
          rows = told;
          mostPages = pagesOf(c).count();
        }
      }
    }
    return rows;
  }

  private Pages pagesOf(int column) {
    return pages.computeIfAbsent(column, this::read);
  }

  /** None if there is no index, or one that lies. */
  private Pages read(int column) {
    ByteRange index = layout.offsetIndexes.rangeOf(group, column);
    if (indexes == null || index.isEmpty()) {
      return Pages.NONE;
    }
    long first = layout.offsetIndexes.span(group, group + 1).start();
    CompactReader in =
        new CompactReader(indexes, (int) (index.start() - first), (int) (index.end() - first));
    Pages read = Pages.NONE;
    try {
      in.enterStruct();
      while (in.nextField()) {
        if (in.field() == INDEX_LOCATIONS) {
          read = readLocations(in, layout.chunk(group, column));
        } else {
          in.skipField();
        }
      }
      return read;
    } catch (MalformedException e) {
      return Pages.NONE;
    }
  }

  private static Pages readLocations(CompactReader in, ByteRange chunk) throws MalformedException {
    int count = in.enterListOfStructs();
    if (count > in.remaining() / LEAST_LOCATION_BYTES) {
      throw new MalformedException(count + " pages in so few bytes");
    }
    Pages read = new Pages(new long[count], new long[count], new long[count]);
    long[] location = new long[LOCATION_FIRST_ROW + 1];
    long end = chunk.start();
    long row = -1;
    for (int page = 0; page < count; page++) {
      Arrays.fill(location, 0);
      in.enterStruct();
      while (in.nextField()) {
        in.readNumber(location);
      }
      long start = location[LOCATION_OFFSET];
      long bytes = location[LOCATION_BYTES];
      if (start < end || start > chunk.end() || bytes <= 0 || bytes > chunk.end() - start) {
        throw new MalformedException("a page of " + bytes + " bytes at " + start);
      }
      if (location[LOCATION_FIRST_ROW] <= row) {
        throw new MalformedException("rows out of order");
      }
      end = start + bytes;
      row = location[LOCATION_FIRST_ROW];
      read.starts[page] = start;
      read.ends[page] = end;
      read.firstRows[page] = row;
    }
    return read;
  }
}
