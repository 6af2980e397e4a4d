package io.s3e.bench.workload;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Where row groups, their column chunks and the footer would lie if an object were a Parquet file:
 * row groups of 16 column chunks each, then the footer, then 8 bytes that tell the footer's length.
 *
 * <p>The chunks' shares are those of TPC-H lineitem as {@link io.s3e.bench.data.LineItemParquet}
 * writes it, and the wanted columns are those of query 3: two that stand alone and two that are
 * adjacent.
 */
final class RowGroups {

  /**
   * One column chunk of one row group.
   *
   * @param position of its first byte in the object
   * @param length in bytes
   */
  record Chunk(long position, int length) {}

  static final int TAIL_BYTES = 8;

  /** More than the footer of a file of a few dozen row groups takes. */
  private static final int MOST_FOOTER_BYTES = 32 << 10;

  private static final long MOST_GROUP_BYTES = 64L << 20;
  private static final int LEAST_GROUPS = 2;

  /** Sizes of the column chunks in thousandths of the row group. */
  private static final int[] SHARES = {
    64, 127, 45, 7, 22, 153, 14, 14, 7, 4, 45, 45, 45, 7, 11, 390
  };

  /** l_orderkey, l_extendedprice, l_discount, l_shipdate. */
  private static final int[] WANTED = {0, 5, 6, 10};

  private static final int WHOLE = 1000;

  private final int footerBytes;
  private final long groupBytes;
  private final int groups;

  /**
   * Lays out a file.
   *
   * @param bytes its length; a small one has smaller row groups
   */
  RowGroups(long bytes) {
    footerBytes = (int) Math.min(MOST_FOOTER_BYTES, bytes / WHOLE);
    long data = bytes - footerBytes - TAIL_BYTES;
    groupBytes = Math.min(MOST_GROUP_BYTES, data / LEAST_GROUPS);
    if (groupBytes < WHOLE) {
      throw new IllegalArgumentException("No room for row groups in " + bytes + " bytes");
    }
    groups = Math.toIntExact(data / groupBytes);
  }

  int footerBytes() {
    return footerBytes;
  }

  long groupBytes() {
    return groupBytes;
  }

  /** How many row groups there are. */
  int groups() {
    return groups;
  }

  /** The wanted chunks of a row group, in the order of their positions. */
  List<Chunk> wanted(int group) {
    List<Chunk> chunks = new ArrayList<>(WANTED.length);
    for (int column : WANTED) {
      long from = group * groupBytes + groupBytes * sharesBefore(column) / WHOLE;
      long to = group * groupBytes + groupBytes * sharesBefore(column + 1) / WHOLE;
      chunks.add(new Chunk(from, Math.toIntExact(to - from)));
    }
    return chunks;
  }

  private static long sharesBefore(int column) {
    return IntStream.of(SHARES).limit(column).sum();
  }
}
