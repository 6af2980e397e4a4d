package io.s3e.columnar;

import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectVersion;
import io.s3e.prefetch.AccessPattern;
import io.s3e.prefetch.BlockPieces;
import io.s3e.prefetch.ReadPlanner;
import io.s3e.prefetch.ReadPlanner.Plan;
import io.s3e.prefetch.ReadPolicy;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one stream fetches before it is asked for, by two planners: one of forward reads, one of
 * columnar files. Pure, as both; the caller serialises all calls but {@link #pattern}.
 *
 * <p>One of the two plans at any time. The {@link ColumnPlanner} looks on until it {@linkplain
 * ColumnPlanner#owns owns} the stream; then the other forgets all that it had out and hears of no
 * read, until the stream is given back or reset. Before that the {@link ColumnPlanner} asks for the
 * tail of a file, and with it for data, where the other asks for nothing. So no block is out twice.
 *
 * <p>Streams whose opener said that they are read from front to end are not looked at.
 */
public final class StreamPlanner {
  private final ReadPlanner forward;
  private final ColumnPlanner columns;
  private final ColumnarMode mode;

  public StreamPlanner(ReadPlanner forward, ColumnPlanner columns, ColumnarMode mode) {
    this.forward = forward;
    this.columns = columns;
    this.mode = mode;
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
  public Plan onRead(long position, long end, long until) {
    if (!looksAtColumns()) {
      return forward.onRead(position, until - position);
    }
    boolean wasColumnar = isColumnar();
    Plan plan = columns.onRead(position, end);
    if (mode == ColumnarMode.OBSERVE) {
      return forward.onRead(position, until - position);
    }
    if (columns.owns()) {
      return wasColumnar ? plan : handOver(List.of(new ByteRange(position, end)), plan);
    }
    Plan other = forward.onRead(position, until - position);
    if (!other.prefetch().isEmpty()) {
      plan.prefetch().forEach(columns::onUnsent);
      return new Plan(other.prefetch(), both(plan, other).abandoned(), other.along());
    }
    return both(other, plan);
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
  public Plan onVectored(List<ByteRange> ranges, List<ByteRange> spans) {
    boolean wasColumnar = isColumnar();
    Plan plan = looksAtColumns() ? columns.onVectored(ranges, spans) : Plan.NOTHING;
    if (isColumnar()) {
      return wasColumnar ? plan : handOver(spans, plan);
    }
    return both(mode == ColumnarMode.AUTO ? plan : Plan.NOTHING, forward.onRanges(spans));
  }

  /**
   * The other planner gives up what it has out, but for what this read takes; what the plan wants
   * of it is on its way, and stays so.
   */
  private Plan handOver(List<ByteRange> read, Plan plan) {
    List<BlockRange> out = new ArrayList<>(forward.onRanges(read).abandoned());
    out.addAll(forward.reset().abandoned());
    if (out.isEmpty()) {
      return plan;
    }
    List<BlockRange> abandoned = new ArrayList<>(without(out, plan.prefetch()));
    abandoned.addAll(plan.abandoned());
    return new Plan(without(plan.prefetch(), out), abandoned, false);
  }

  /** The parts of {@code runs} that are not in {@code others}; either are disjoint. */
  private static List<BlockRange> without(List<BlockRange> runs, List<BlockRange> others) {
    BlockPieces<List<BlockRange>> known = new BlockPieces<>();
    others.forEach(run -> known.add(run, others));
    List<BlockRange> rest = new ArrayList<>();
    runs.forEach(run -> rest.addAll(known.missingFrom(run)));
    return rest;
  }

  /** What {@code first} abandons and what {@code second} does. */
  private static Plan both(Plan first, Plan second) {
    if (first.isNothing()) {
      return second;
    }
    if (second.isNothing()) {
      return first;
    }
    List<BlockRange> abandoned = new ArrayList<>(first.abandoned());
    abandoned.addAll(second.abandoned());
    List<BlockRange> prefetch = second.prefetch().isEmpty() ? first.prefetch() : second.prefetch();
    return new Plan(prefetch, abandoned, first.along() || second.along());
  }

  /** As {@link ReadPlanner#onStall}. */
  public Plan onStall(long position) {
    return isColumnar() ? columns.onStall(position) : forward.onStall(position);
  }

  /**
   * A vectored read has to wait for the block at {@code position}. What the other planner makes of
   * waits is for readers that go forward.
   */
  public Plan onVectoredStall(long position) {
    return isColumnar() ? columns.onStall(position) : Plan.NOTHING;
  }

  /** As {@link ReadPlanner#onMiss}. */
  public Plan onMiss(long position) {
    return isColumnar() ? columns.onMiss(position) : forward.onMiss(position);
  }

  /** As {@link ReadPlanner#onRefused}. */
  public void onRefused(BlockRange run) {
    if (mode == ColumnarMode.AUTO && columns.isOut(run.first())) {
      columns.onRefused(run);
    } else {
      forward.onRefused(run);
    }
  }

  /** As {@link ReadPlanner#onUnsent}. */
  public void onUnsent(BlockRange run) {
    if (mode == ColumnarMode.AUTO) {
      columns.onUnsent(run);
    }
    forward.onUnsent(run);
  }

  /** As {@link ReadPlanner#onLost}. */
  public void onLost(BlockRange run) {
    if (mode == ColumnarMode.AUTO) {
      columns.onLost(run);
    }
    forward.onLost(run);
  }

  /** As {@link ReadPlanner#limitWindow}. */
  public void limitWindow(long bytes, int requests) {
    forward.limitWindow(bytes, requests);
    columns.limitWindow(bytes, requests);
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

  /** Forgets everything and abandons what is out, as for unbuffer and close. */
  public Plan reset() {
    Plan plan = columns.reset();
    return both(forward.reset(), mode == ColumnarMode.AUTO ? plan : Plan.NOTHING);
  }

  /** What both planners are at, for logs. */
  public String describe() {
    return isColumnar() ? columns.describe() : forward.describe() + "; " + columns.describe();
  }
}
