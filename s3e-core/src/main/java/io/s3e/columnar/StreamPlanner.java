// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.prefetch.AccessPattern;
import io.s3e.prefetch.Ahead;
import io.s3e.prefetch.Ahead.Starting;
import io.s3e.prefetch.BlockPieces;
import io.s3e.prefetch.PrefetchLimits;
import io.s3e.prefetch.ReadPlanner;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.prefetch.ReaderHabit;
import io.s3e.prefetch.TableLedger;
import io.s3e.prefetch.Wish;
import io.s3e.prefetch.Wish.Range;
import io.s3e.prefetch.Wish.Start;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * What one stream wants before it is asked for, by two planners: one of forward reads, one of
 * columnar files. Pure: told of reads and waits, and of the bytes that it {@linkplain #wants wants}
 * to see, it has a {@link #wish}. The caller serialises all calls but {@link #pattern}. The same
 * calls give the same answers, as long as the memory that it shares with other streams is the same.
 *
 * <p><b>Until a layout is known</b> the {@link ReadPlanner} plans. The first read of the stream, if
 * it is in the last 64 KiB, asks for the tail, and for the data that {@link AlikeFiles} expect,
 * where the other wants nothing; any read there has {@link FooterReading} see the footer. A layout
 * of this version that is remembered is known at the first read. An object that is neither Parquet
 * nor ORC, or in any doubt, is looked at no more.
 *
 * <p><b>With a layout</b> a {@link ColumnPlanner} looks on until it {@linkplain ColumnPlanner#owns
 * owns} the stream; then the other forgets its reader and hears of no read, until the stream is
 * given back, or reset. Where guesses of column data do not pay, column data is the other's again.
 *
 * <p>Streams whose opener said that they are read from front to end are not looked at. Where
 * columns are only observed, what they want is compared with the reads and not fetched.
 *
 * <p><b>Window and trust.</b> The window of columns is as {@link ReadPlanner} has it ({@link
 * Wanted}), and halves when a group is skipped. What is wanted names the {@link TableLedger} of the
 * table, of tails and {@link AlikeFiles} that of their place; a kind that wasted too much is left
 * to one stream in sixteen.
 *
 * <p>Invariants: what is wanted of columns lies inside the object, and was not read lately. It
 * never exceeds the cap that held when it was added. After {@link #reset} nothing is wanted.
 */
public final class StreamPlanner {
  final ReadPlanner forward;
  private final OrcCodecs codecs;
  private final long requestBytes;
  private final ColumnarMode mode;

  /** What would be ahead of the reader, where columns are only observed. */
  private final Ahead observed;

  private final Groups groups;
  final Wanted wanted;
  private final FooterReading footer;

  /** Nothing was read, as far as columns are concerned. */
  private boolean isFresh = true;

  /** The first read was of the end, where a reader of a whole file begins. */
  private boolean beganAtEnd;

  /** Null without a layout. */
  @Nullable ColumnPlanner columns;

  /**
   * @param past is believed as far as {@code memory} has nothing of the object's place; null if
   *     nothing is
   * @param split tells the bytes that the reader is to read
   * @param codecs where aircompressor is looked for
   * @param listener hears of footers that are read, and of guesses that are only observed
   */
  public StreamPlanner(
      ReadPlanner forward,
      BlockLayout blocks,
      PrefetchLimits limits,
      LayoutMemory memory,
      @Nullable LayoutMemory past,
      ObjectVersion version,
      SplitSource split,
      long requestBytes,
      ClassLoader codecs,
      ColumnarMode mode,
      ObjLongConsumer<Counter> listener) {
    this.forward = forward;
    this.codecs = new OrcCodecs(codecs);
    this.requestBytes = requestBytes;
    this.mode = mode;
    this.observed = new Ahead(blocks, listener);
    this.groups = new Groups(split);
    this.wanted = new Wanted(blocks, limits);
    this.footer = new FooterReading(memory, past, version, listener);
  }

  public static ReaderHabit habitOf(LayoutMemory memory, ObjectRef object) {
    return memory.place(object).habit();
  }

  /** The ETag of the version is known; told as often as one likes. */
  public void identify(ObjectVersion identified) {
    footer.identify(identified);
  }

  /** Whether columns alone say what is ahead; else a reader forward is helped as in other files. */
  boolean isColumnar() {
    return mode == ColumnarMode.AUTO && columns != null && columns.owns() && columns.foresees();
  }

  private boolean looksAtColumns() {
    ReadPolicy policy = forward.pattern().policy();
    boolean isOrdered = policy == ReadPolicy.SEQUENTIAL || policy == ReadPolicy.WHOLE_FILE;
    boolean isDone = columns == null ? footer.isDone : columns.isForeign();
    boolean isOwned = columns != null && columns.owns();
    return mode != ColumnarMode.OFF && !isDone && (!isOrdered || isOwned);
  }

  /**
   * A read of {@code [position, end)} is about to be served; as a rule a reader of this kind goes
   * on unheard of up to {@code until}.
   */
  public void onRead(long position, long end, long until) {
    if (looksAtColumns()) {
      onColumnarRead(position, Math.min(end, wanted.grid.objectSize()));
      observe(List.of(new ByteRange(position, end)));
    }
    if (isColumnar()) {
      forward.reset();
    } else {
      forward.onRead(position, until - position);
    }
  }

  /** As {@link ReadPlanner#quietBlocks}; none once the file's layout is known. */
  public long quietBlocks(long reached) {
    return columns == null ? forward.quietBlocks(reached) : 0;
  }

  private void onColumnarRead(long position, long end) {
    if (end <= position) {
      return;
    }
    BlockRange touched = wanted.grid.covering(position, end);
    boolean isFirst = isFresh;
    boolean wasExpected = begin(touched);
    FileLayout layout = columns == null ? null : columns.layout;
    boolean isAtEnd = footer.isNearEnd(position);
    if (isAtEnd && isFirst && (layout == null || position >= layout.footerStart)) {
      beganAtEnd = true;
      footer.ask(touched, layout, wanted);
    } else if (columns != null) {
      columns.onRead(position, end, wasExpected);
    }
  }

  /** A read touches these blocks; whether any of them was wanted. */
  private boolean begin(BlockRange touched) {
    FileLayout known = columns == null ? footer.remembered() : null;
    if (known != null) {
      ready(known);
    }
    isFresh = false;
    return wanted.use(touched);
  }

  private void ready(FileLayout layout) {
    TableMemory table = footer.table(layout);
    TableLedger.OfStream mine = columns == null ? table.ledger.ofStream() : columns.guesses;
    TableMemory past = footer.pastTable(layout);
    columns = new ColumnPlanner(layout, groups, wanted, table, past, mine, requestBytes);
  }

  /**
   * The reader has gone to {@code position}, in a block that it reads without being heard of. The
   * offset indexes that it goes to say which columns it wants.
   */
  public void onSeek(long position) {
    if (columns != null && mode == ColumnarMode.AUTO && columns.owns()) {
      columns.onSeek(position);
    }
  }

  /** A vectored read of these ranges, which are joined to spans, is about to be served. */
  public void onVectored(List<ByteRange> ranges, List<ByteRange> spans) {
    if (looksAtColumns()) {
      boolean wasExpected = false;
      for (ByteRange span : spans) {
        wasExpected |= begin(wanted.grid.covering(span.start(), span.end()));
      }
      if (columns != null) {
        columns.onVectored(ranges, wasExpected);
      }
      observe(spans);
    }
    if (isColumnar()) {
      forward.reset();
    } else {
      forward.onRanges(spans);
    }
  }

  /** Judges guesses that are not sent, as if they had been. */
  private void observe(List<ByteRange> read) {
    if (mode == ColumnarMode.OBSERVE) {
      read.forEach(observed::onRead);
      for (Starting each : observed.look(wanted.wish(), block -> false).starting()) {
        observed.started(each.blocks(), each.of());
      }
    }
  }

  public void onStall(long position) {
    if (!isColumnar()) {
      forward.onStall(position);
    }
    onVectoredStall();
  }

  /** A vectored read waits. What the other planner makes of waits is for forward readers. */
  public void onVectoredStall() {
    if (columns != null && isColumnar()) {
      columns.onStall();
    }
  }

  public Wish wish() {
    Wish ofForward = isColumnar() ? Wish.NOTHING : forward.wish();
    return mode == ColumnarMode.AUTO ? both(ofForward, wanted.wish()) : ofForward;
  }

  /** What comes first; and of {@code second} what came, or is on its way. */
  private static Wish both(Wish first, Wish second) {
    if (first.ranges().isEmpty() || second.ranges().isEmpty()) {
      return first.ranges().isEmpty() ? second : first;
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

  /**
   * Memory or concurrency refused the first of these runs, and none of them was sent. They are
   * wanted again when the reader has come on, as far as the window goes.
   */
  public void refused(List<Starting> runs, Ahead ahead) {
    Range first = runs.get(0).of();
    if (!first.kind().isColumnar()) {
      forward.refused(runs.get(0).blocks().first(), ahead);
      return;
    }
    List<BlockRange> blocks = runs.stream().map(Starting::blocks).toList();
    wanted.refused(blocks, first.group() != Range.ALONE);
    if (columns != null) {
      // What lies before is wanted still: to walk over it at each refusal takes longer than reads.
      columns.askAgain(blocks.stream().mapToLong(BlockRange::first).min().orElse(0));
    }
  }

  /** As {@link ReadPlanner#limitWindow}; {@code atOnceAlone} requests if no other stream read. */
  public void limitWindow(long bytes, int requests, int atOnceAlone, Ahead ahead) {
    forward.limitWindow(bytes, requests, ahead);
    wanted.limit(bytes, requests, atOnceAlone);
    if (mode == ColumnarMode.AUTO && wanted.wantOnly(ahead) && columns != null) {
      columns.askAgain(0);
    }
  }

  public void setMinimumReadahead(long bytes) {
    forward.setMinimumReadahead(bytes);
  }

  /** The order of the stream's reads; its public methods need no serialised calls. */
  public AccessPattern pattern() {
    return forward.pattern();
  }

  /**
   * Where the last group of a columnar file ends: indexes, filters and the footer follow, which
   * each reader reads anew. {@link Long#MAX_VALUE} for other objects.
   */
  public long tailStart() {
    return columns == null || mode != ColumnarMode.AUTO ? Long.MAX_VALUE : columns.layout.dataEnd();
  }

  /**
   * The bytes of the object that have to be seen next: of a footer of the file or of a stripe, or
   * of offset indexes; null if none. The caller hands them over by {@link #onBytes} when they are
   * in memory anyway: best as soon as a read of them was served.
   */
  public @Nullable ByteRange wants() {
    if (!looksAtColumns()) {
      return null;
    }
    return columns == null ? footer.wants() : columns.wants();
  }

  /** The bytes that were {@linkplain #wants wanted}. Reads them; takes 1 ms for some 400 KiB. */
  public void onBytes(ByteRange range, byte[] bytes) {
    ByteRange next = wants();
    if (next == null || next.start() != range.start() || next.length() != bytes.length) {
      return;
    }
    if (columns != null) {
      columns.onBytes(range, bytes, codecs);
      return;
    }
    FileLayout known = footer.onBytes(bytes, codecs);
    if (known != null) {
      ready(known);
    } else if (footer.isDone) {
      wanted.clear();
    }
  }

  /** For unbuffer and close: forgets the reader, wants nothing; the table learns what was read. */
  public void reset() {
    ColumnPlanner last = columns;
    if (last != null && !isFresh) {
      List<ByteRange> data = last.following.remember();
      if (beganAtEnd) {
        footer.remember(last.layout, data);
      }
    }
    if (last != null) {
      last.guesses.ends();
    }
    wanted.clear();
    footer.reset();
    isFresh = true;
    beganAtEnd = false;
    if (last != null && !last.isForeign()) {
      ready(last.layout);
    }
    observe(List.of());
    forward.reset();
  }
}
