package io.s3e.columnar;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectVersion;
import io.s3e.columnar.ColumnReads.Read;
import io.s3e.columnar.Ledger.Kind;
import io.s3e.prefetch.ReadPlanner.Limits;
import io.s3e.prefetch.ReadPlanner.Plan;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Decides what the stream of one columnar reader fetches before it is asked for. Pure: told of
 * reads, waits and refusals, and of the bytes that it {@linkplain #wants wants} to see, it answers
 * with runs of blocks. The caller serialises all calls. The same calls give the same answers, as
 * long as the memory that it shares with other streams is the same.
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
 * <p><b>Window.</b> As {@link io.s3e.prefetch.ReadPlanner} has it ({@link Asking}): it begins small
 * or with one group, doubles for each wait, falls to what was granted when something is refused,
 * and halves when a group is skipped.
 *
 * <p><b>Trust.</b> Each guess is settled with the {@link Ledger} of the table, tails and {@link
 * AlikeFiles} with that of their place; a kind that wasted too much is left to one stream in
 * sixteen.
 *
 * <p>Invariants: runs of a plan lie inside the object, are disjoint from each other and from all
 * blocks that are out; each block of them is later read, refused or abandoned, exactly one of
 * these. Blocks that are out never exceed the cap that held when they were asked for. After {@link
 * #reset} none is out.
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
  private final VectoredReads joining;
  private final Groups groups;
  private final Guesses guesses;
  private final Asking asking;
  private final FooterReading footer;
  private final Map<Kind, Boolean> admitted = new EnumMap<>(Kind.class);

  private State state = State.UNKNOWN;
  private boolean owner;
  private boolean isFresh = true;

  /** The first read was of the end, where a reader of a whole file begins. */
  private boolean beganAtEnd;

  // All of these or none, from READY on.
  private @Nullable Layout layout;
  private @Nullable TableMemory table;
  private @Nullable ColumnReads reads;

  private int foreignReads;

  /** Blocks of the present read that were out. */
  private long expected;

  /** Blocks that were read, and those that were asked for again because they were lost. */
  private long blocksRead;

  private long askedAgain;

  /**
   * A planner for one stream.
   *
   * @param split the bytes that the opener said it needs; null if it did not
   * @param splits is asked where {@code split} is null
   * @param codecs where aircompressor is looked for
   * @param listener hears what is asked for, and what becomes of it
   */
  public ColumnPlanner(
      BlockLayout blocks,
      Limits limits,
      LayoutMemory memory,
      ObjectVersion version,
      @Nullable ByteRange split,
      SplitSource splits,
      VectoredReads vectored,
      ClassLoader codecs,
      ColumnarListener listener) {
    this.blocks = blocks;
    this.codecs = new OrcCodecs(codecs);
    this.joining = vectored;
    this.groups = new Groups(split, splits);
    this.guesses = new Guesses(blocks, listener);
    this.asking = new Asking(blocks, limits, guesses);
    this.footer = new FooterReading(blocks, memory, version, this.codecs, listener);
  }

  /**
   * How the stream joins ranges of a vectored read.
   *
   * @param gapBytes the longest gap that is fetched
   * @param maxOverRead bytes fetched for nothing, as a share of the bytes wanted
   * @param requestBytes the longest joined range
   */
  public record VectoredReads(int gapBytes, double maxOverRead, long requestBytes) {}

  /** The ETag of the version has become known. */
  public void identify(ObjectVersion identified) {
    footer.identify(identified);
  }

  /** Whether the reads of this stream are planned here and nowhere else. */
  public boolean owns() {
    return owner;
  }

  private boolean isOver() {
    return state == State.NOT_COLUMNAR || state == State.FOREIGN;
  }

  /**
   * Whether nothing that can come makes a difference any more, and all that was abandoned is told.
   */
  boolean isDone() {
    return isOver() && !guesses.hasAbandoned();
  }

  /** Whether {@code block} was asked for here and is neither read, refused nor abandoned. */
  public boolean isOut(long block) {
    return guesses.contains(block);
  }

  /** As {@link StreamPlanner#tailStart}. */
  long tailStart() {
    return layout == null ? Long.MAX_VALUE : layout.dataEnd();
  }

  /** As {@link io.s3e.prefetch.ReadPlanner#limitWindow}. */
  public void limitWindow(long bytes, int requests) {
    asking.limit(bytes, requests);
  }

  /**
   * A read of {@code [position, end)} is about to be served. Its own blocks are fetched by the
   * caller and are not part of the plan, but count as asked for.
   */
  public Plan onRead(long position, long end) {
    if (isOver() || position < 0 || position >= blocks.objectSize() || end <= position) {
      return asking.takePlan(false);
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
        if (isAdmitted(Kind.TAIL)) {
          footer.ask(touched, layout, asking);
        }
        beganAtEnd = true;
        askAlike();
        return asking.takePlan(true);
      }
    }
    if (reads != null && hear(reads.onRead(position, until, owner, expected > 0))) {
      ask();
    }
    return asking.takePlan(false);
  }

  /** A known layout does not say which columns will be read. */
  private void askAlike() {
    List<BlockRange> runs = layout == null || layout.groups() == 1 ? footer.expected() : List.of();
    if (!runs.isEmpty() && isAdmitted(Kind.ALIKE)) {
      asking.openFor(guesses.count() + Filters.blocksOf(runs));
      asking.ask(runs, Kind.ALIKE, footer.ledger());
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
  public Plan onVectored(List<ByteRange> ranges, List<ByteRange> spans) {
    if (isOver()) {
      return asking.takePlan(false);
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
    return asking.takePlan(false);
  }

  /** A read touches these blocks; whether it is the stream's first. */
  private boolean begin(BlockRange touched) {
    boolean isFirst = isFresh;
    isFresh = false;
    expected += guesses.use(touched);
    blocksRead += touched.count();
    asking.release();
    if (isFirst && layout == null) {
      Layout known = footer.remembered();
      if (known != null) {
        ready(known);
      }
    }
    return isFirst;
  }

  private void ready(Layout known) {
    layout = known;
    state = State.READY;
    table = footer.table(known);
    reads =
        new ColumnReads(
            known, blocks, groups, asking, guesses, table, this::isAdmitted, joining, codecs);
  }

  private boolean isAdmitted(Kind kind) {
    boolean isOfPlace = kind == Kind.TAIL || kind == Kind.ALIKE;
    Ledger ledger = isOfPlace || table == null ? footer.ledger() : table.ledger();
    return admitted.computeIfAbsent(kind, ledger::admits);
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
    Layout known = footer.onBytes(bytes);
    if (known != null) {
      ready(known);
    } else if (footer.isDone()) {
      guesses.abandonAll();
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
    if (reads != null && isAdmitted(Kind.GROUP) && reads.ask()) {
      state = State.FOLLOWING;
    }
  }

  private void foreign() {
    foreignReads++;
    if (foreignReads >= MAX_FOREIGN_READS) {
      guesses.abandonAll();
      owner = false;
      state = State.FOREIGN;
    }
  }

  /** The reader really has to wait for the block at {@code position}: best when the wait begins. */
  public Plan onStall(long position) {
    boolean isGuessed = guesses.count() > 0 || (reads != null && reads.isAhead());
    if (owner && isGuessed) {
      asking.grow();
    }
    return onMiss(position);
  }

  /** The reader has waited for the block at {@code position} in vain, and fetches it itself. */
  public Plan onMiss(long position) {
    if (!owner) {
      return Plan.NOTHING;
    }
    ask();
    return asking.takePlan(false);
  }

  /**
   * Memory or concurrency refused {@code run} and everything after it in its plan. It is asked for
   * again when the reader has come on.
   */
  public void onRefused(BlockRange run) {
    asking.refused(run);
    askAgain();
  }

  /** The prefetch of {@code run} was not sent, and nothing was refused: the next plan has it. */
  public void onUnsent(BlockRange run) {
    if (guesses.takeBack(run) > 0) {
      askAgain();
    }
  }

  /**
   * The prefetch of {@code run} has failed or was cancelled, and not because this planner abandoned
   * it. It is asked for again with the next plan; but never more than one window and what the
   * reader has passed, so that a store which refuses everything is not asked without end.
   */
  public void onLost(BlockRange run) {
    long lost = guesses.takeBack(run);
    if (lost > 0 && askedAgain + lost <= blocksRead + asking.window()) {
      askedAgain += lost;
      askAgain();
    }
  }

  private void askAgain() {
    if (reads != null) {
      reads.askAgain();
    }
  }

  /**
   * Forgets where the reader is and abandons everything that is out, as for unbuffer and close; the
   * table learns what was read.
   */
  public Plan reset() {
    if (reads != null && layout != null && !isFresh) {
      List<ByteRange> data = reads.remember();
      if (beganAtEnd) {
        footer.remember(layout, data);
      }
    }
    guesses.abandonAll();
    owner = false;
    foreignReads = 0;
    isFresh = true;
    beganAtEnd = false;
    if (!isOver()) {
      state = State.UNKNOWN;
      if (layout != null) {
        ready(layout);
      }
    }
    return asking.takePlan(false);
  }

  /** State and window in bytes, for logs. */
  public String describe() {
    String text = state + (layout == null ? "" : ", " + layout);
    long ahead = guesses.count() * blocks.blockSize();
    return text + ", ahead " + ahead + " of " + asking.window() * blocks.blockSize();
  }
}
