package io.s3e.columnar;

import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectVersion;
import io.s3e.prefetch.AccessPattern;
import io.s3e.prefetch.Ahead;
import io.s3e.prefetch.Ahead.Starting;
import io.s3e.prefetch.BlockPieces;
import io.s3e.prefetch.ReadPlanner;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.prefetch.Wish;
import io.s3e.prefetch.Wish.Range;
import io.s3e.prefetch.Wish.Start;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one stream wants before it is asked for, by two planners: one of forward reads, one of
 * columnar files. Pure, as both; the caller serialises all calls but {@link #pattern}.
 *
 * <p>One of the two plans at any time. The {@link ColumnPlanner} looks on until it {@linkplain
 * ColumnPlanner#owns owns} the stream; then the other forgets its reader and hears of no read,
 * until the stream is given back or reset. Before that the {@link ColumnPlanner} wants the tail of
 * a file, and with it data, where the other wants nothing.
 *
 * <p>Streams whose opener said that they are read from front to end are not looked at. Where
 * columns are only observed, what they want is compared with the reads and not fetched.
 */
public final class StreamPlanner {
  private final ReadPlanner forward;
  private final ColumnPlanner columns;
  private final ColumnarMode mode;
  private final Ahead observed;

  /**
   * @param observed what would be ahead of the reader, where columns are only observed
   */
  public StreamPlanner(
      ReadPlanner forward, ColumnPlanner columns, ColumnarMode mode, Ahead observed) {
    this.forward = forward;
    this.columns = columns;
    this.mode = mode;
    this.observed = observed;
  }

  private boolean looksAtColumns() {
    ReadPolicy policy = forward.pattern().policy();
    boolean isOrdered = policy == ReadPolicy.SEQUENTIAL || policy == ReadPolicy.WHOLE_FILE;
    return mode != ColumnarMode.OFF && (columns.owns() || (!isOrdered && !columns.isDone()));
  }

  private boolean isColumnar() {
    return mode == ColumnarMode.AUTO && columns.owns();
  }

  /**
   * A read of {@code [position, end)} is about to be served.
   *
   * @param until where a reader of this kind goes on to as a rule without being heard of: no less
   *     than {@code end}
   */
  public void onRead(long position, long end, long until) {
    boolean wasColumnar = isColumnar();
    if (looksAtColumns()) {
      columns.onRead(position, end);
      observe(List.of(new ByteRange(position, end)));
    }
    if (!isColumnar()) {
      forward.onRead(position, until - position);
    } else if (!wasColumnar) {
      forward.reset();
    }
  }

  /** As {@link ColumnPlanner#onSeek}. */
  public void onSeek(long position) {
    if (isColumnar()) {
      columns.onSeek(position);
    }
  }

  /**
   * A vectored read is about to be served.
   *
   * @param ranges what is wanted
   * @param spans what is fetched: ranges as they were joined
   */
  public void onVectored(List<ByteRange> ranges, List<ByteRange> spans) {
    boolean wasColumnar = isColumnar();
    if (looksAtColumns()) {
      columns.onVectored(ranges, spans);
      observe(spans);
    }
    if (!isColumnar()) {
      forward.onRanges(spans);
    } else if (!wasColumnar) {
      forward.reset();
    }
  }

  /** Judges guesses that are not sent, as if they had been. */
  private void observe(List<ByteRange> read) {
    if (mode == ColumnarMode.OBSERVE) {
      read.forEach(observed::onRead);
      for (Starting each : observed.look(columns.wish(), block -> false).starting()) {
        observed.started(each.blocks(), each.of());
      }
    }
  }

  /** As {@link ReadPlanner#onStall}. */
  public void onStall(long position) {
    if (isColumnar()) {
      columns.onStall();
    } else {
      forward.onStall(position);
    }
  }

  /**
   * A vectored read has to wait. What the other planner makes of waits is for readers that go
   * forward.
   */
  public void onVectoredStall() {
    if (isColumnar()) {
      columns.onStall();
    }
  }

  /** What is wanted now. */
  public Wish wish() {
    if (mode != ColumnarMode.AUTO) {
      return forward.wish();
    }
    Wish ofColumns = columns.wish();
    Wish ofForward = columns.owns() ? Wish.NOTHING : forward.wish();
    return ofForward.ranges().isEmpty() ? ofColumns : both(ofForward, ofColumns);
  }

  /** What comes first; and of {@code second} what came, or is on its way. */
  private static Wish both(Wish first, Wish second) {
    if (second.ranges().isEmpty()) {
      return first;
    }
    BlockPieces<Wish> known = new BlockPieces<>();
    first.ranges().forEach(range -> known.add(range.blocks(), first));
    List<Range> all = new ArrayList<>(first.ranges());
    for (Range range : second.ranges()) {
      for (BlockRange part : known.missingFrom(range.blocks())) {
        all.add(new Range(part, range.kind(), range.judge(), Start.LATER, range.cut()));
      }
    }
    return new Wish(all);
  }

  /** Memory or concurrency refused the first of these runs, and none of them was sent. */
  public void refused(List<Starting> runs, Ahead ahead) {
    Range first = runs.get(0).of();
    if (first.kind().isColumnar()) {
      boolean wasGroup = first.group() != Range.ALONE;
      columns.refused(runs.stream().map(Starting::blocks).toList(), wasGroup);
    } else {
      forward.refused(runs.get(0).blocks().first(), ahead);
    }
  }

  /**
   * As {@link ReadPlanner#limitWindow}.
   *
   * @param atOnceAlone requests that the stream might have in flight if no other one read
   */
  public void limitWindow(long bytes, int requests, int atOnceAlone) {
    forward.limitWindow(bytes, requests);
    columns.limitWindow(bytes, requests, atOnceAlone);
  }

  /** As {@link ReadPlanner#setPolicy}. */
  public void setPolicy(ReadPolicy policy) {
    forward.setPolicy(policy);
  }

  /** As {@link ReadPlanner#setMinimumReadahead}. */
  public void setMinimumReadahead(long bytes) {
    forward.setMinimumReadahead(bytes);
  }

  /** The order of the stream's reads; its public methods need no serialised calls. */
  public AccessPattern pattern() {
    return forward.pattern();
  }

  /** The ETag of the version has become known. */
  public void identify(ObjectVersion identified) {
    columns.identify(identified);
  }

  /**
   * Where the last group of a columnar file ends: indexes, filters and the footer follow, which
   * each reader reads anew. {@link Long#MAX_VALUE} for other objects.
   */
  public long tailStart() {
    return mode == ColumnarMode.AUTO ? columns.tailStart() : Long.MAX_VALUE;
  }

  /** Bytes that are to be handed over once they are in memory; null if none. */
  public @Nullable ByteRange wants() {
    return looksAtColumns() ? columns.wants() : null;
  }

  /** The bytes that were {@linkplain #wants wanted}. */
  public void onBytes(ByteRange range, byte[] bytes) {
    columns.onBytes(range, bytes);
  }

  /** Forgets everything and wants nothing, as for unbuffer and close. */
  public void reset() {
    columns.reset();
    observe(List.of());
    forward.reset();
  }

  /** What both planners are at, for logs. */
  public String describe() {
    return isColumnar() ? columns.describe() : forward.describe() + "; " + columns.describe();
  }
}
