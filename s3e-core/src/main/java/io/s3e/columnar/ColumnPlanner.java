package io.s3e.columnar;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectVersion;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.prefetch.PrefetchLimits;
import io.s3e.prefetch.TableLedger;
import io.s3e.prefetch.VectorPlanner.Joining;
import io.s3e.prefetch.Wish;
import java.util.List;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Decides what the stream of one columnar reader fetches before it is asked for. Pure: told of
 * reads and waits, and of the bytes that it {@linkplain #wants wants} to see, it has a {@link
 * #wish}. The caller serialises all calls. The same calls give the same answers, as long as the
 * memory that it shares with other streams is the same.
 *
 * <p><b>Without a layout</b> the first read of the stream, if it is in the last 64 KiB, asks for
 * the tail, and for the data that {@link AlikeFiles} expect; any read there has {@link
 * FooterReading} see the footer. A layout of this version that is remembered is known at the first
 * read. Bytes that are neither Parquet nor ORC, or in any doubt, end it.
 *
 * <p><b>With a layout</b> reads are told to {@link ColumnReads}, which say when the stream is this
 * planner's ({@link #owns}), and when it is not any more. {@link #reset} forgets them.
 *
 * <p><b>Window.</b> As {@link io.s3e.prefetch.ReadPlanner} has it ({@link Wanted}): it begins small
 * or with one group, doubles for each wait, falls to what was granted when something is refused,
 * and halves when a group is skipped.
 *
 * <p><b>Trust.</b> What is wanted names the {@link TableLedger} of the table, of tails and {@link
 * AlikeFiles} that of their place; a kind that wasted too much is left to one stream in sixteen.
 *
 * <p>Invariants: what is wanted lies inside the object, and was not read lately. It never exceeds
 * the cap that held when it was added. After {@link #reset} nothing is wanted.
 */
public final class ColumnPlanner {
  private final BlockLayout blocks;
  private final OrcCodecs codecs;
  private final Joining joining;
  private final Groups groups;
  private final Wanted wanted;
  private final FooterReading footer;

  /** Nothing was read. */
  private boolean isFresh = true;

  /** The first read was of the end, where a reader of a whole file begins. */
  private boolean beganAtEnd;

  /** Since there is a layout, and that of the stream's table: not forgotten by a reset. */
  private TableLedger.@Nullable OfStream guesses;

  /** Null without a layout. */
  private @Nullable ColumnReads reads;

  /**
   * A planner for one stream.
   *
   * @param split the bytes that the opener said it needs; null if it did not
   * @param splits is asked where {@code split} is null
   * @param codecs where aircompressor is looked for
   * @param listener hears of footers that are read
   */
  public ColumnPlanner(
      BlockLayout blocks,
      PrefetchLimits limits,
      LayoutMemory memory,
      ObjectVersion version,
      @Nullable ByteRange split,
      SplitSource splits,
      Joining vectored,
      ClassLoader codecs,
      ObjLongConsumer<Counter> listener) {
    this.blocks = blocks;
    this.codecs = new OrcCodecs(codecs);
    this.joining = vectored;
    this.groups = new Groups(split, splits);
    this.wanted = new Wanted(blocks, limits);
    this.footer = new FooterReading(blocks, memory, version, this.codecs, listener);
  }

  /** The ETag of the version has become known. */
  public void identify(ObjectVersion identified) {
    footer.identify(identified);
  }

  /** Whether the reads of this stream are planned here and nowhere else. */
  public boolean owns() {
    return reads != null && reads.owns();
  }

  /** Whether nothing that can come makes a difference any more. */
  boolean isDone() {
    return reads == null ? footer.isDone() : reads.isForeign();
  }

  /** As {@link StreamPlanner#tailStart}. */
  long tailStart() {
    return reads == null ? Long.MAX_VALUE : reads.layout().dataEnd();
  }

  /** As {@link io.s3e.prefetch.ReadPlanner#limitWindow}. */
  public void limitWindow(long bytes, int requests, int atOnceAlone) {
    wanted.limit(bytes, requests, atOnceAlone);
  }

  /** A read of {@code [position, end)} is about to be served. */
  public void onRead(long position, long end) {
    if (isDone() || position < 0 || position >= blocks.objectSize() || end <= position) {
      return;
    }
    long until = Math.min(end, blocks.objectSize());
    BlockRange touched = blocks.covering(position, until);
    boolean isFirst = isFresh;
    boolean wasExpected = begin(touched);
    FileLayout layout = reads == null ? null : reads.layout();
    boolean isAtEnd = footer.isNearEnd(position);
    if (isAtEnd && isFirst && (layout == null || position >= layout.footerStart())) {
      beganAtEnd = true;
      footer.ask(touched, layout, wanted);
    } else if (reads != null) {
      reads.onRead(position, until, wasExpected);
    }
  }

  /**
   * The reader has gone to {@code position}, in a block that it reads without being heard of. The
   * offset indexes that it goes to say which columns it wants.
   */
  public void onSeek(long position) {
    if (reads != null && reads.owns()) {
      reads.onSeek(position);
    }
  }

  /**
   * A vectored read is about to be served.
   *
   * @param ranges what is wanted
   * @param spans what is fetched: ranges as they were joined
   */
  public void onVectored(List<ByteRange> ranges, List<ByteRange> spans) {
    if (isDone()) {
      return;
    }
    boolean wasExpected = false;
    for (ByteRange span : spans) {
      wasExpected |= begin(blocks.covering(span.start(), span.end()));
    }
    if (reads != null) {
      reads.onVectored(ranges, wasExpected);
    }
  }

  /** A read touches these blocks; whether any of them was wanted. */
  private boolean begin(BlockRange touched) {
    FileLayout known = isFresh && reads == null ? footer.remembered() : null;
    if (known != null) {
      ready(known);
    }
    isFresh = false;
    return wanted.use(touched) > 0;
  }

  private void ready(FileLayout layout) {
    TableMemory table = footer.table(layout);
    TableLedger.OfStream mine = guesses == null ? table.ledger().ofStream() : guesses;
    guesses = mine;
    reads = new ColumnReads(layout, blocks, groups, wanted, table, mine, joining, codecs);
  }

  /**
   * The bytes of the object that this planner has to see next: of a footer of the file or of a
   * stripe, or of offset indexes; null if none. The caller hands them over by {@link #onBytes} when
   * they are in memory anyway: best as soon as a read of them was served.
   */
  public @Nullable ByteRange wants() {
    return reads == null ? footer.wants() : reads.wants();
  }

  /** The bytes that were {@linkplain #wants wanted}. Reads them; takes 1 ms for some 400 KiB. */
  public void onBytes(ByteRange range, byte[] bytes) {
    if (!range.equals(wants()) || bytes.length != range.length()) {
      return;
    }
    if (reads != null) {
      reads.onBytes(range, bytes);
      return;
    }
    FileLayout known = footer.onBytes(bytes);
    if (known != null) {
      ready(known);
    } else if (footer.isDone()) {
      wanted.clear();
    }
  }

  /** The reader really has to wait: best when the wait begins. */
  public void onStall() {
    if (reads != null && reads.owns()) {
      reads.onStall();
    }
  }

  /** What is wanted ahead of the reader now. */
  public Wish wish() {
    return wanted.wish();
  }

  /**
   * Memory or concurrency refused the first of these runs, and none of them was sent. They are
   * wanted again when the reader has come on, as far as the window goes.
   *
   * @param wasGroup whether the first is of use together with others only
   */
  public void refused(List<BlockRange> runs, boolean wasGroup) {
    wanted.refused(runs, wasGroup);
    if (reads != null) {
      reads.askAgain();
    }
  }

  /**
   * Forgets where the reader is and wants nothing, as for unbuffer and close; the table learns what
   * was read.
   */
  public void reset() {
    ColumnReads last = reads;
    if (last != null && !isFresh) {
      List<ByteRange> data = last.remember();
      if (beganAtEnd) {
        footer.remember(last.layout(), data);
      }
    }
    if (guesses != null) {
      guesses.ends();
    }
    wanted.clear();
    footer.reset();
    isFresh = true;
    beganAtEnd = false;
    if (last != null && !last.isForeign()) {
      ready(last.layout());
    }
  }

  /** State and window in bytes, for logs. */
  public String describe() {
    long ahead = wanted.count() * blocks.blockSize();
    String state = reads == null ? footer.toString() : reads.toString();
    return state + ", ahead " + ahead + " of " + wanted.window() * blocks.blockSize();
  }
}
