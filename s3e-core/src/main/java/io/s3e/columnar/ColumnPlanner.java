package io.s3e.columnar;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectVersion;
import io.s3e.columnar.Following.Joining;
import io.s3e.columnar.Following.Manner;
import io.s3e.columnar.Layout.Format;
import io.s3e.columnar.Layout.Part;
import io.s3e.columnar.Layout.Place;
import io.s3e.columnar.Ledger.Kind;
import io.s3e.metrics.EngineMetrics.Counter;
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
 *   <li>UNKNOWN: no layout. The first read of the stream, in the last 64 KiB, asks for the tail. →
 *       TAIL by any read there; → READY at the first read, if the layout of this version is
 *       remembered.
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
 * <p><b>Trust.</b> Each guess is settled with the {@link Ledger} of the table, tails with that of
 * their place; a kind that wasted too much is left to one stream in sixteen.
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

  /** Objects of so many bytes come by one GET as soon as a part of them is read. */
  private static final long SMALL_OBJECT_BYTES = 1 << 20;

  /** A reader of a dictionary page fetches less than that of what is behind it. */
  private static final int MAX_GLANCE_BYTES = 8 << 10;

  private static final int MAX_FOREIGN_READS = 3;
  private static final long NO_READ = -1;

  private final BlockLayout blocks;
  private final LayoutMemory memory;
  private final OrcCodecs codecs;
  private final ColumnarListener listener;
  private final Joining joining;
  private final Groups groups;
  private final Guesses guesses;
  private final Asking asking;
  private final Map<Kind, Boolean> admitted = new EnumMap<>(Kind.class);

  private ObjectVersion version;
  private State state = State.UNKNOWN;
  private boolean owner;
  private boolean isFresh = true;
  private @Nullable FileTail tail;

  // All of these or none, from READY on.
  private @Nullable Layout layout;
  private @Nullable TableMemory table;
  private @Nullable Filters filters;
  private @Nullable Following following;
  private @Nullable OrcStripes stripes;
  private @Nullable PickedPages pages;

  private boolean sawFilters;
  private int foreignReads;

  /** Offset after the last byte of the last read; {@link #NO_READ} before the first. */
  private long lastEnd = NO_READ;

  /** Where the first of the reads began that go on to the last one without a gap. */
  private long runStart;

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
    this.memory = memory;
    this.version = version;
    this.codecs = new OrcCodecs(codecs);
    this.listener = listener;
    this.joining =
        new Joining(vectored.gapBytes(), vectored.maxOverRead(), vectored.requestBytes());
    this.groups = new Groups(split, splits);
    this.guesses = new Guesses(blocks, listener);
    this.asking = new Asking(blocks, limits, guesses);
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
    version = Objects.requireNonNull(identified, "identified");
  }

  /** Whether the reads of this stream are planned here and nowhere else. */
  public boolean owns() {
    return owner;
  }

  /** Whether nothing that can come makes a difference any more. */
  boolean isOver() {
    return state == State.NOT_COLUMNAR || state == State.FOREIGN;
  }

  /** Whether {@code block} was asked for here and is neither read, refused nor abandoned. */
  public boolean isOut(long block) {
    return guesses.contains(block);
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
      return Plan.NOTHING;
    }
    long until = Math.min(end, blocks.objectSize());
    BlockRange touched = blocks.covering(position, until);
    expected = 0;
    boolean isFirst = begin(touched);
    if (isNearEnd(position)) {
      if (layout == null) {
        state = State.TAIL;
      }
      if (isFirst && (layout == null || position >= layout.footerStart())) {
        askForTail(touched);
        lastEnd = until;
        return asking.takePlan(true);
      }
    }
    if (layout != null) {
      read(layout, position, until);
    }
    lastEnd = until;
    return asking.takePlan(false);
  }

  /**
   * The reader has gone to {@code position}, in a block that it reads without being heard of. The
   * offset indexes that it goes to say which columns it wants.
   */
  public void onSeek(long position) {
    if (owner && layout != null) {
      Place place = layout.at(position);
      if (place.part() == Part.OFFSET_INDEX) {
        Objects.requireNonNull(pages).onIndex(place.group(), place.column());
      }
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
      return Plan.NOTHING;
    }
    expected = 0;
    for (ByteRange span : spans) {
      begin(blocks.covering(span.start(), span.end()));
    }
    if (layout != null) {
      for (ByteRange range : ranges) {
        if (!range.isEmpty() && range.end() <= blocks.objectSize()) {
          readRange(layout, range);
          lastEnd = range.end();
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
      Layout known = memory.layout(version);
      if (known != null) {
        ready(known);
      }
    }
    return isFirst;
  }

  private boolean isNearEnd(long position) {
    return position >= blocks.objectSize() - TailMemory.NEAR_END_BYTES;
  }

  private void ready(Layout known) {
    layout = known;
    state = State.READY;
    table = memory.table(known.schema());
    Ledger ledger = table.ledger();
    stripes = new OrcStripes(known, codecs);
    filters = new Filters(known, blocks, groups, asking, ledger, this::isAdmitted, stripes);
    pages = new PickedPages(known);
    following =
        new Following(known, blocks, groups, asking, guesses, table, joining, pages, stripes);
  }

  private boolean isAdmitted(Kind kind) {
    Ledger ledger =
        kind == Kind.TAIL || table == null
            ? memory.tails(version.object()).ledger()
            : table.ledger();
    return admitted.computeIfAbsent(kind, ledger::admits);
  }

  private void askForTail(BlockRange touched) {
    long size = blocks.objectSize();
    TailMemory tails = memory.tails(version.object());
    long bytes = layout == null ? tails.bytesOf(size) : size - layout.footerStart();
    if (size > SMALL_OBJECT_BYTES && bytes > 0 && isAdmitted(Kind.TAIL)) {
      BlockRange end = blocks.covering(Math.max(0, size - bytes), size);
      if (end.first() < touched.first()) {
        BlockRange before = new BlockRange(end.first(), touched.first());
        asking.ask(List.of(before), Kind.TAIL, tails.ledger());
      }
    }
  }

  /**
   * The bytes of the object that this planner has to see next: of a footer of the file or of a
   * stripe, or of offset indexes; null if none. The caller hands them over by {@link #onBytes} when
   * they are in memory anyway: best as soon as a read of them was served.
   */
  public @Nullable ByteRange wants() {
    if (state != State.TAIL) {
      return owner ? wantsInside() : null;
    }
    long size = blocks.objectSize();
    return tail == null
        ? new ByteRange(Math.max(0, size - FileTail.LAST_BYTES), size)
        : tail.footer();
  }

  private @Nullable ByteRange wantsInside() {
    ByteRange footer = Objects.requireNonNull(stripes).wants();
    return footer == null ? Objects.requireNonNull(pages).wants() : footer;
  }

  /** The bytes that were {@linkplain #wants wanted}. Reads them; takes 1 ms for some 400 KiB. */
  public void onBytes(ByteRange range, byte[] bytes) {
    if (!range.equals(wants()) || bytes.length != range.length()) {
      return;
    }
    if (state != State.TAIL && Objects.requireNonNull(layout).format() == Format.PARQUET) {
      Objects.requireNonNull(pages).onBytes(bytes);
      return;
    }
    if (state != State.TAIL) {
      Objects.requireNonNull(stripes).onFooter(range, bytes);
      Objects.requireNonNull(following).refine();
      return;
    }
    TailMemory tails = memory.tails(version.object());
    try {
      if (tail == null) {
        tail = FileTail.of(bytes, blocks.objectSize());
        if (tail == null) {
          state = State.NOT_COLUMNAR;
          tails.noFooter();
        }
        return;
      }
      tails.footer(blocks.objectSize() - tail.footer().start());
      Layout parsed = tail.layout(bytes, codecs);
      if (parsed == null) {
        refuseFooter();
      } else {
        listener.onCounted(Counter.COLUMNAR_FOOTERS, 1);
        ready(memory.keep(version, parsed));
      }
    } catch (MalformedException e) {
      refuseFooter();
    }
  }

  private void refuseFooter() {
    state = State.NOT_COLUMNAR;
    listener.onCounted(Counter.COLUMNAR_FOOTERS_REFUSED, 1);
  }

  private void read(Layout known, long position, long end) {
    Place place = known.at(position);
    boolean goesOn = goesOn(position);
    if (!goesOn) {
      runStart = position;
    }
    if (!owner && (!place.startsAt(position) || goesOn)) {
      return;
    }
    boolean isInside = place.part() == Part.FOOTER || isInGroup(known, place, end);
    if (place.part() == Part.FOOTER) {
      return;
    }
    if (!isInside) {
      foreign();
      return;
    }
    owner = true;
    foreignReads = 0;
    if (isData(place, end)) {
      column(place.group(), position, end, Manner.SEEKS);
    } else {
      filter(place, position, end);
    }
    ask();
  }

  /** Whether a read follows the last one: what lay in the same block was not heard of. */
  private boolean goesOn(long position) {
    return lastEnd > 0
        && position >= lastEnd
        && position <= blocks.endOf(blocks.blockAt(lastEnd - 1));
  }

  /** Whether a read stays in its group, as far as it is in one. */
  private static boolean isInGroup(Layout known, Place place, long end) {
    return switch (place.part()) {
      case DATA, DICTIONARY -> end <= known.group(place.group()).end();
      case NOWHERE -> false;
      default -> true;
    };
  }

  /** Whether a read is of column data; a reader of a dictionary page reads that and no more. */
  private boolean isData(Place place, long end) {
    if (place.part() != Part.DICTIONARY) {
      return place.part() == Part.DATA;
    }
    if (Objects.requireNonNull(pages).isKnown(place.group())) {
      // Dictionaries are looked at before indexes.
      return true;
    }
    return end - place.range().end() >= MAX_GLANCE_BYTES
        || end - runStart >= Following.PIECE_BYTES
        || Objects.requireNonNull(following).isChunkEnd(place.group(), end);
  }

  private void readRange(Layout known, ByteRange range) {
    Place place = known.at(range.start());
    switch (place.part()) {
      case DATA, DICTIONARY -> {
        if (range.end() <= known.group(place.group()).end()) {
          owner = true;
          foreignReads = 0;
          runStart = range.start();
          column(place.group(), range.start(), range.end(), Manner.VECTORED);
        }
      }
      case STRIPE_INDEX, STRIPE_FOOTER, BLOOM_FILTER, COLUMN_INDEX, OFFSET_INDEX -> {
        owner = true;
        filter(place, range.start(), range.end());
      }
      case FOOTER, NOWHERE -> {}
    }
  }

  private void filter(Place place, long from, long to) {
    if (place.part() != Part.STRIPE_FOOTER) {
      // Every reader of ORC reads those.
      sawFilters = true;
    }
    if (place.part() == Part.OFFSET_INDEX) {
      Objects.requireNonNull(pages).onIndex(place.group(), place.column());
    }
    groups.at(place.group(), Objects.requireNonNull(layout));
    Objects.requireNonNull(stripes).at(place.group());
    Objects.requireNonNull(filters).onRead(place, from, to);
    if (state == State.READY) {
      state = State.FILTERING;
    }
  }

  private void column(int group, long from, long to, Manner manner) {
    Objects.requireNonNull(stripes).at(group);
    Objects.requireNonNull(following).onRead(group, runStart, from, to, manner, expected > 0);
    state = State.COLUMNS;
  }

  private void ask() {
    if (following == null || table == null || !isAdmitted(Kind.GROUP)) {
      return;
    }
    following.ask(sawFilters, table.ledger());
    if (following.isOpen()) {
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
    if (!owner) {
      return Plan.NOTHING;
    }
    if (guesses.count() > 0 || (following != null && following.isAhead())) {
      asking.grow();
    }
    ask();
    return asking.takePlan(false);
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
    if (following != null) {
      following.askAgain();
    }
  }

  /**
   * Forgets where the reader is and abandons everything that is out, as for unbuffer and close; the
   * table learns what was read.
   */
  public Plan reset() {
    if (following != null) {
      following.remember();
    }
    guesses.abandonAll();
    owner = false;
    sawFilters = false;
    foreignReads = 0;
    lastEnd = NO_READ;
    isFresh = true;
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
