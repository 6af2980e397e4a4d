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
  public static final double MAX_OVER_READ = 0.5;

  /**
   * Ranges that are fetched as one.
   *
   * @param span from the first byte of the first member to the last byte of the last
   * @param members indexes into the list that was planned, in order of offset; at least one
   */
  public record Group(ByteRange span, List<Integer> members) {
    public Group {
      members = List.copyOf(members);
    }
  }

  /**
   * How a stream joins the ranges of its vectored reads.
   *
   * @param gapBytes the longest gap that is fetched
   * @param maxOverRead bytes fetched for nothing, as a share of the bytes wanted
   * @param requestBytes the longest joined range
   */
  public record Joining(int gapBytes, double maxOverRead, long requestBytes) {}

  private VectorPlanner() {}

  /**
   * Sorts {@code ranges} and joins neighbours. Ranges whose blocks touch are joined, for together
   * they take no byte more than apart. Others are joined over a gap of at most {@code gapBytes},
   * while the group holds at most {@code maxOverRead} times as many bytes that nobody asked for as
   * bytes that somebody did. The blocks of a joined group are at most {@code maxBytes} long, or one
   * block. A range longer than that is a group of its own. So is each empty range, which overlaps
   * nothing.
   *
   * @param blockBytes what is fetched at least, in bytes
   * @return groups in order of offset; each index of {@code ranges} is a member of exactly one
   * @throws IllegalArgumentException if two ranges overlap; the message names both
   */
  public static List<Group> plan(
      List<ByteRange> ranges, int blockBytes, int gapBytes, double maxOverRead, long maxBytes) {
    List<Integer> order =
        IntStream.range(0, ranges.size())
            .boxed()
            .sorted(
                Comparator.comparingLong((Integer i) -> ranges.get(i).start())
                    .thenComparingLong(i -> ranges.get(i).end()))
            .toList();
    List<Group> groups = new ArrayList<>();
    Joined joined = new Joined(blockBytes, gapBytes, maxOverRead, maxBytes, groups);
    ByteRange last = new ByteRange(0, 0);
    for (int index : order) {
      ByteRange range = ranges.get(index);
      if (range.isEmpty()) {
        groups.add(new Group(range, List.of(index)));
        continue;
      }
      if (range.start() < last.end()) {
        throw new IllegalArgumentException("ranges " + last + " and " + range + " overlap");
      }
      joined.add(range, index);
      last = range;
    }
    joined.finish();
    groups.sort(
        Comparator.comparingLong((Group group) -> group.span().start())
            .thenComparingLong(group -> group.span().end()));
    return List.copyOf(groups);
  }

  /** The spans of ranges that ascend, none of them empty: as {@link #plan} joins them. */
  public static List<ByteRange> spans(List<ByteRange> ascending, int blockBytes, Joining how) {
    List<Group> groups = new ArrayList<>(ascending.size());
    Joined joined =
        new Joined(blockBytes, how.gapBytes(), how.maxOverRead(), how.requestBytes(), groups);
    ascending.forEach(range -> joined.add(range, 0));
    joined.finish();
    List<ByteRange> spans = new ArrayList<>(groups.size());
    groups.forEach(group -> spans.add(group.span()));
    return spans;
  }

  /** The group that is being joined. */
  private static final class Joined {
    private final int blockBytes;
    private final int gapBytes;
    private final double maxOverRead;
    private final long maxBytes;
    private final List<Group> groups;

    private List<Integer> members = new ArrayList<>();
    private long start;
    private long end;
    private long used;

    Joined(int blockBytes, int gapBytes, double maxOverRead, long maxBytes, List<Group> groups) {
      this.blockBytes = blockBytes;
      this.gapBytes = gapBytes;
      this.maxOverRead = maxOverRead;
      this.maxBytes = maxBytes;
      this.groups = groups;
    }

    void add(ByteRange range, int index) {
      if (!members.isEmpty() && !fits(range)) {
        finish();
      }
      if (members.isEmpty()) {
        start = range.start();
        used = 0;
      }
      members.add(index);
      end = range.end();
      used += range.length();
    }

    private boolean fits(ByteRange range) {
      long length = range.end() - start;
      long blocks = (range.end() - 1) / blockBytes - start / blockBytes + 1;
      long wanted = used + range.length();
      boolean cheap = range.start() - end <= gapBytes && length - wanted <= maxOverRead * wanted;
      return (blocks == 1 || blocks <= maxBytes / blockBytes) && (cheap || blocksTouch(range));
    }

    private boolean blocksTouch(ByteRange range) {
      return range.start() / blockBytes <= (end - 1) / blockBytes + 1;
    }

    void finish() {
      if (!members.isEmpty()) {
        groups.add(new Group(new ByteRange(start, end), members));
        members = new ArrayList<>();
      }
    }
  }
}
