package io.s3e.columnar;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectVersion;
import io.s3e.columnar.ColumnReads.Read;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.prefetch.GuessKind;
import io.s3e.prefetch.PrefetchLimits;
import io.s3e.prefetch.TableLedger;
import io.s3e.prefetch.VectorPlanner.Joining;
import io.s3e.prefetch.Wish;
import java.util.List;
import java.util.Objects;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Decides what the stream of one columnar reader fetches before it is asked for. Pure: told of
 * reads and waits, and of the bytes that it {@linkplain #wants wants} to see, it has a {@link
 * #wish}. The caller serialises all calls. The same calls give the same answers, as long as the
 * memory that it shares with other streams is the same.
 *
 * <p><b>States.</b>
 *
 * <ul>
 *   <li>UNKNOWN: no layout. The first read of the stream, in the last 64 KiB, asks for the tail,
 *       and for the data that {@link AlikeFiles} expect. → TAIL by any read there; → READY at the
 *       first read, if the layout of this version is remembered.
 *   <li>TAIL: wants the last bytes, then the footer. → READY with a layout; → NOT_COLUMNAR with
 *       bytes that are neither Parquet nor ORC, or in any doubt.
 *   <li>READY: a layout, and no read of a part of it. → FILTERING or COLUMNS by a read that begins
 *       where a part of the layout begins and does not go on where the last read ended: from then
 *       on the stream is this planner's ({@link #owns}).
 *   <li>FILTERING: dictionary pages, Bloom filters, indexes, footers of stripes ({@link Filters}).
 *   <li>COLUMNS: data of groups was read: columns are known ({@link Following}).
 *   <li>FOLLOWING: the gate is open; the groups that follow are read ahead.
 *   <li>FOREIGN: three reads in a row were of no part of the layout; the stream is another
 *       planner's, for good. NOT_COLUMNAR: likewise.
 * </ul>
 *
 * {@link #reset} goes back to READY, or to UNKNOWN where there is no layout.
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
  private enum State {
    UNKNOWN,
    TAIL,
    NOT_COLUMNAR,
    READY,
    FILTERING,
    COLUMNS,
    FOLLOWING,
    FOREIGN
  }

  private static final int MAX_FOREIGN_READS = 3;

  private final BlockLayout blocks;
  private final OrcCodecs codecs;
  private final Joining joining;
  private final Groups groups;
  private final Wanted wanted;
  private final FooterReading footer;

  private State state = State.UNKNOWN;
  private boolean owner;
  private boolean isFresh = true;

  /** The first read was of the end, where a reader of a whole file begins. */
  private boolean beganAtEnd;

  // All of these or none, from READY on.
  private @Nullable FileLayout layout;
  private @Nullable TableMemory table;
  private TableLedger.@Nullable OfStream guesses;
  private @Nullable ColumnReads reads;

  private int foreignReads;

  /** Blocks of the present read that were wanted. */
  private long expected;

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
    return owner;
  }

  /** Whether nothing that can come makes a difference any more. */
  boolean isDone() {
    return state == State.NOT_COLUMNAR || state == State.FOREIGN;
  }

  /** As {@link StreamPlanner#tailStart}. */
  long tailStart() {
    return layout == null ? Long.MAX_VALUE : layout.dataEnd();
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
    expected = 0;
    BlockRange touched = blocks.covering(position, until);
    boolean isFirst = begin(touched);
    if (footer.isNearEnd(position)) {
      if (layout == null) {
        state = State.TAIL;
      }
      if (isFirst && (layout == null || position >= layout.footerStart())) {
        if (footer.guesses().admits(GuessKind.TAIL)) {
          footer.ask(touched, layout, wanted);
        }
        beganAtEnd = true;
        askAlike();
        return;
      }
    }
    if (reads != null && hear(reads.onRead(position, until, owner, expected > 0))) {
      ask();
    }
  }

  /** A known layout does not say which columns will be read. */
  private void askAlike() {
    List<BlockRange> runs = layout == null || layout.groups() == 1 ? footer.expected() : List.of();
    if (!runs.isEmpty() && footer.guesses().admits(GuessKind.ALIKE)) {
      wanted.openFor(wanted.count() + Filters.blocksOf(runs));
      wanted.add(runs, GuessKind.ALIKE, footer.guesses());
    }
  }

  /**
   * The reader has gone to {@code position}, in a block that it reads without being heard of. The
   * offset indexes that it goes to say which columns it wants.
   */
  public void onSeek(long position) {
    if (owner && reads != null) {
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
    expected = 0;
    for (ByteRange span : spans) {
      begin(blocks.covering(span.start(), span.end()));
    }
    if (reads != null) {
      for (ByteRange range : ranges) {
        if (!range.isEmpty() && range.end() <= blocks.objectSize()) {
          hear(reads.onRange(range, expected > 0));
        }
      }
      ask();
    }
  }

  /** A read touches these blocks; whether it is the stream's first. */
  private boolean begin(BlockRange touched) {
    boolean isFirst = isFresh;
    isFresh = false;
    expected += wanted.use(touched);
    if (isFirst && layout == null) {
      FileLayout known = footer.remembered();
      if (known != null) {
        ready(known);
      }
    }
    return isFirst;
  }

  private void ready(FileLayout known) {
    layout = known;
    state = State.READY;
    if (table == null || guesses == null) {
      table = footer.table(known);
      guesses = table.ledger().ofStream();
    }
    reads = new ColumnReads(known, blocks, groups, wanted, table, guesses, joining, codecs);
  }

  /**
   * The bytes of the object that this planner has to see next: of a footer of the file or of a
   * stripe, or of offset indexes; null if none. The caller hands them over by {@link #onBytes} when
   * they are in memory anyway: best as soon as a read of them was served.
   */
  public @Nullable ByteRange wants() {
    if (state == State.TAIL) {
      return footer.wants();
    }
    return owner && reads != null ? reads.wants() : null;
  }

  /** The bytes that were {@linkplain #wants wanted}. Reads them; takes 1 ms for some 400 KiB. */
  public void onBytes(ByteRange range, byte[] bytes) {
    if (!range.equals(wants()) || bytes.length != range.length()) {
      return;
    }
    if (state != State.TAIL) {
      Objects.requireNonNull(reads).onBytes(range, bytes);
      return;
    }
    FileLayout known = footer.onBytes(bytes);
    if (known != null) {
      ready(known);
    } else if (footer.isDone()) {
      wanted.clear();
      state = State.NOT_COLUMNAR;
    }
  }

  /** Whether a read makes something due, and what it says of the reader. */
  private boolean hear(Read read) {
    if (read == Read.FOREIGN) {
      foreign();
    }
    if (read == Read.FOREIGN || read == Read.OTHER) {
      return false;
    }
    if (read == Read.COLUMN) {
      state = State.COLUMNS;
    } else if (state == State.READY) {
      state = State.FILTERING;
    }
    owner = true;
    foreignReads = 0;
    return true;
  }

  private void ask() {
    if (reads != null && reads.ask()) {
      state = State.FOLLOWING;
    }
  }

  private void foreign() {
    foreignReads++;
    if (foreignReads >= MAX_FOREIGN_READS) {
      wanted.clear();
      owner = false;
      state = State.FOREIGN;
    }
  }

  /** The reader really has to wait: best when the wait begins. */
  public void onStall() {
    if (owner) {
      if (wanted.count() > 0 || (reads != null && reads.isAhead())) {
        wanted.grow();
      }
      ask();
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
    if (reads != null && layout != null && !isFresh) {
      List<ByteRange> data = reads.remember();
      if (beganAtEnd) {
        footer.remember(layout, data);
      }
    }
    if (guesses != null) {
      guesses.ends();
    }
    wanted.clear();
    owner = false;
    foreignReads = 0;
    isFresh = true;
    beganAtEnd = false;
    if (!isDone()) {
      state = State.UNKNOWN;
      if (layout != null) {
        ready(layout);
      }
    }
  }

  /** State and window in bytes, for logs. */
  public String describe() {
    String text = state + (layout == null ? "" : ", " + layout);
    long ahead = wanted.count() * blocks.blockSize();
    return text + ", ahead " + ahead + " of " + wanted.window() * blocks.blockSize();
  }
}
