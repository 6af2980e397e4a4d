// SPDX-License-Identifier: Apache-2.0
package io.s3e.prefetch;

import io.s3e.block.ByteRange;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/** Joins the ranges of a vectored read where one fetch of both costs less than two. Pure. */
public final class VectorPlanner {
  /** Two ranges that are farther apart are fetched apart, in bytes. */
  public static final int MAX_GAP_BYTES = 256 << 10;

  /** Bytes of a joined range that are fetched for nothing, as a share of the bytes wanted. */
  private static final double MAX_OVER_READ = 0.5;

  /**
   * A gap of no more than so many blocks, and not too wide for all, is fetched over, whatever is
   * wanted beside it, in a group of no more than {@value #NEAR_GROUP_BLOCKS}: of 64 KiB, what S3A
   * joins (128 KiB, 2 MiB). A GET costs more than 2 ms of a connection do.
   */
  private static final int NEAR_BLOCKS = 2;

  private static final int NEAR_GROUP_BLOCKS = 32;

  /** Ranges fetched as one: their span, and their indexes in the list, in order of offset. */
  public record Group(ByteRange span, List<Integer> members) {}

  private VectorPlanner() {}

  /**
   * Sorts {@code ranges} and joins neighbours. Ranges whose blocks touch are joined, for together
   * they take no byte more than apart. Others are joined over gaps of up to {@link #MAX_GAP_BYTES},
   * with at most {@link #MAX_OVER_READ} times as many bytes that nobody asked for as bytes that
   * somebody did, but for gaps of a block or two. The blocks of a joined group are at most {@code
   * requestBytes} long, or one block. A range longer than that is a group of its own. So is each
   * empty range, which overlaps nothing.
   *
   * @param blockBytes what is fetched at least, in bytes
   * @return groups in order of offset; each index of {@code ranges} is a member of exactly one
   * @throws IllegalArgumentException if two ranges overlap; the message names both
   */
  public static List<Group> plan(List<ByteRange> ranges, int blockBytes, long requestBytes) {
    List<Integer> order =
        IntStream.range(0, ranges.size())
            .boxed()
            .sorted(
                Comparator.comparingLong((Integer i) -> ranges.get(i).start())
                    .thenComparingLong(i -> ranges.get(i).end()))
            .toList();
    List<Joined> groups = new ArrayList<>();
    Joined last = new Joined(new ByteRange(0, 0));
    for (int index : order) {
      ByteRange range = ranges.get(index);
      Joined joined = last;
      if (range.isEmpty()) {
        joined = new Joined(range);
        groups.add(joined);
      } else {
        if (range.start() < last.end) {
          ByteRange before = ranges.get(last.members.get(last.members.size() - 1));
          throw new IllegalArgumentException("ranges " + before + " and " + range + " overlap");
        }
        if (last.used == 0 || !last.fits(range, blockBytes, requestBytes)) {
          last = new Joined(range);
          groups.add(last);
        }
        joined = last;
      }
      joined.add(range, index);
    }
    return groups.stream()
        .map(each -> new Group(new ByteRange(each.start, each.end), each.members))
        .toList();
  }

  /** The spans of the groups of {@link #plan}. */
  public static List<ByteRange> spans(List<ByteRange> ranges, int blockBytes, long requestBytes) {
    return plan(ranges, blockBytes, requestBytes).stream().map(Group::span).toList();
  }

  /** A group to which ranges are added. */
  private static final class Joined {
    private final List<Integer> members = new ArrayList<>();
    private final long start;
    private long end;
    private long used;

    Joined(ByteRange first) {
      start = first.start();
    }

    void add(ByteRange range, int index) {
      members.add(index);
      end = range.end();
      used += range.length();
    }

    boolean fits(ByteRange range, int blockBytes, long requestBytes) {
      long length = range.end() - start;
      long wanted = used + range.length();
      long blocks = (range.end() - 1) / blockBytes - start / blockBytes + 1;
      long gap = range.start() - end;
      boolean isNear = gap <= (long) NEAR_BLOCKS * blockBytes && blocks <= NEAR_GROUP_BLOCKS;
      boolean isCheap =
          gap <= MAX_GAP_BYTES && (isNear || length - wanted <= MAX_OVER_READ * wanted);
      boolean touches = range.start() / blockBytes <= (end - 1) / blockBytes + 1;
      return (blocks == 1 || blocks <= requestBytes / blockBytes) && (isCheap || touches);
    }
  }
}
