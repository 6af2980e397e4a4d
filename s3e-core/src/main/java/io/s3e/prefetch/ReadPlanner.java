package io.s3e.prefetch;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Decides what one stream fetches before it is asked for. Pure: told of reads, waits and refusals,
 * it answers with runs of blocks. No I/O, no threads, no clock, no locks: the caller serialises all
 * calls. The same calls give the same answers.
 *
 * <p><b>Cursors.</b> Each place where the stream reads forward is a cursor with a window of its
 * own. A read belongs to the cursor that ends nearest to it, if it is no farther than a small gap;
 * a read of a block that some cursor prefetched forks off that cursor and takes the rest of its
 * window along; any other read begins a cursor. Cursors that nothing has read for long are retired
 * and what they wanted is abandoned.
 *
 * <p><b>When a cursor prefetches.</b> Never under {@link ReadPolicy#RANDOM}. Under {@link
 * ReadPolicy#SEQUENTIAL} and {@link ReadPolicy#WHOLE_FILE} from its first read, unless the stream
 * has jumped about or wasted what was prefetched. Under {@link ReadPolicy#ADAPTIVE} from its first
 * read if that is the stream's first and lies at the start of the split. Else once reads have gone
 * on from one block into the next: once, or several times after jumps and waste. A cursor that
 * began inside data already read also has to wait for bytes first, for memory probably holds them.
 *
 * <p><b>How far.</b> The window starts small and doubles for each wait of the reader, up to the
 * cap; after a refusal it falls to what was granted. It is cut into {@link Limits#parallelRamp}
 * requests, or the stream's share of what is in flight at once, until these have their full length,
 * and towards the end into shorter ones again. Requests are issued whole, when one of them fits
 * into the window. Cursors that prefetch share the cap. Prefetch stops at the split's end; a reader
 * that goes on for more than a block beyond it gets one small request ahead.
 *
 * <p><b>Trust.</b> If more than a fifth of what was prefetched lately was never read, windows fall
 * back to where they began, and new cursors have to show more before they prefetch.
 *
 * <p>Invariants: prefetched runs are inside the object, ascending, disjoint from each other and
 * from all blocks that are out as prefetch; each block of them is later read, refused or abandoned,
 * exactly one of these. No cursor asks for a block that it has read or passed. Blocks out as
 * prefetch never exceed the cap that held when they were asked for.
 */
public final class ReadPlanner {

  /**
   * Sizes in bytes.
   *
   * @param initialWindowBytes how far a cursor is ahead before any wait
   * @param smallRequestBytes the shortest request of a ramp-up
   * @param requestBytes the longest request
   * @param maxWindowBytes the farthest that all cursors together are ahead
   * @param maxCursors places in the object that are followed at once
   * @param parallelRamp number of requests that a window is cut into until they are full length
   */
  public record Limits(
      int initialWindowBytes,
      int smallRequestBytes,
      int requestBytes,
      long maxWindowBytes,
      int maxCursors,
      int parallelRamp) {

    public Limits {
      if (initialWindowBytes < 1
          || smallRequestBytes < 1
          || requestBytes < 1
          || maxWindowBytes < 0
          || maxCursors < 1
          || parallelRamp < 1) {
        throw new IllegalArgumentException(
            "prefetch limits must be positive: initial window "
                + initialWindowBytes
                + ", small request "
                + smallRequestBytes
                + ", request "
                + requestBytes
                + ", largest window "
                + maxWindowBytes
                + ", cursors "
                + maxCursors
                + ", parallel requests "
                + parallelRamp);
      }
    }

    /**
     * S3 answers 1 MiB as soon as 256 KiB (first byte p50 30 and 27 ms); less than that only costs
     * more requests.
     */
    private static final int SMALL_REQUEST_BYTES = 1 << 20;

    /**
     * Fastest of 8, 12, 16 and 20 in the simulation of 30 ms and 60 MB/s a connection: more of them
     * keep requests short, and each of those takes a connection, for longer.
     */
    private static final int PARALLEL_RAMP = 8;

    /** They bring 2.7 GB/s in GETs of 4 MiB: one reader has no use for more. */
    private static final int CONNECTIONS = 64;

    /** A few readers of one stream; each costs a look at each read that is not where one ended. */
    private static final int MAX_CURSORS = 8;

    /**
     * The limits for blocks and requests of these sizes, in bytes. In that simulation a fast reader
     * then scans 512 MiB in 0.94 to 1.01 of the time that 16 connections need which never pause, if
     * 20 requests may be in flight; in 1.14 to 1.19 of it if 16 may.
     */
    public static Limits defaults(int blockBytes, int requestBytes) {
      int small = Math.min(requestBytes, Math.max(blockBytes, SMALL_REQUEST_BYTES));
      int initial = Math.toIntExact(Math.min(1 << 30, (long) PARALLEL_RAMP * small));
      long window = (long) CONNECTIONS * requestBytes;
      return new Limits(initial, small, requestBytes, window, MAX_CURSORS, PARALLEL_RAMP);
    }

    /** The same, with windows of at most {@code bytes} in all. */
    public Limits withWindowsUpTo(long bytes) {
      return new Limits(
          initialWindowBytes,
          smallRequestBytes,
          requestBytes,
          Math.min(maxWindowBytes, bytes),
          maxCursors,
          parallelRamp);
    }
  }

  /**
   * The next steps of the reader's fetching.
   *
   * @param prefetch runs to fetch, nearest first, each at most one request long
   * @param abandoned runs whose prefetch nobody wants any more; parts of what was asked for
   * @param along whether the first run goes along with the GET of the read itself, if the read has
   *     to send one: the read was expected, and both should have come by one GET before
   */
  public record Plan(List<BlockRange> prefetch, List<BlockRange> abandoned, boolean along) {
    /** Nothing to do. */
    public static final Plan NOTHING = new Plan(List.of(), List.of(), false);

    /** Whether there is nothing to do. */
    public boolean isNothing() {
      return prefetch.isEmpty() && abandoned.isEmpty();
    }

    /** Block up to which a GET for {@code read} is to go; no less than the end of that. */
    public long alongUntil(BlockRange read) {
      boolean follows = along && !prefetch.isEmpty() && prefetch.get(0).first() == read.end();
      return follows ? prefetch.get(0).end() : read.end();
    }

    /**
     * Block from which a GET for {@code read} is to come: before the read, where the first run ends
     * at it and goes along; no more than the start of the read.
     */
    public long alongFrom(BlockRange read) {
      boolean leads = along && !prefetch.isEmpty() && prefetch.get(0).end() == read.first();
      return leads ? prefetch.get(0).first() : read.first();
    }

    /** Block up to which prefetch goes on from {@code end} without a gap. */
    public long aheadUntil(long end) {
      long until = end;
      for (BlockRange run : prefetch) {
        if (run.first() == until) {
          until = run.end();
        }
      }
      return until;
    }
  }

  /** A forward skip or a step back of so many blocks is still the same cursor. */
  private static final int GAP_BLOCKS = 4;

  /** The period over which waste is counted, in initial windows. */
  private static final int LEDGER_WINDOWS = 8;

  private final BlockLayout layout;
  private final Limits limits;
  private final WasteLedger ledger;
  private final AccessPattern pattern;
  private final Outstanding outstanding;
  private final Cursors cursors = new Cursors();
  private final Windows windows;

  /** The latest prefetch, for {@link #onRefused}. */
  private List<BlockRange> lastPrefetch = List.of();

  /**
   * A planner for one stream.
   *
   * @param split the bytes that the reader expects to need; null if that is unknown
   */
  public ReadPlanner(
      BlockLayout layout, ReadPolicy policy, @Nullable ByteRange split, Limits limits) {
    this.layout = Objects.requireNonNull(layout, "layout");
    this.limits = Objects.requireNonNull(limits, "limits");
    this.ledger = new WasteLedger((long) LEDGER_WINDOWS * limits.initialWindowBytes());
    this.pattern = new AccessPattern(layout, ledger, policy, split);
    this.outstanding = new Outstanding(layout, ledger);
    this.windows = new Windows(layout, limits, cursors, outstanding, pattern);
  }

  /**
   * A read of {@code length} bytes at {@code position} is about to be served. Its own blocks are
   * fetched by the caller and are not part of the plan, but count as asked for. The part outside
   * the object is ignored.
   */
  public Plan onRead(long position, long length) {
    if (length <= 0 || position < 0 || position >= layout.objectSize()) {
      return Plan.NOTHING;
    }
    long end = position + Math.min(length, layout.objectSize() - position);
    BlockRange touched = layout.covering(position, end);
    if (pattern.policy() == ReadPolicy.RANDOM) {
      return planRandom(touched);
    }
    cursors.countRead(end - position);
    Cursor cursor = cursors.near(position, (long) GAP_BLOCKS * layout.blockSize());
    if (cursor != null
        && touched.count() == 1
        && touched.end() == cursor.reached
        && !outstanding.contains(touched.first())) {
      cursor.advance(position, end, touched);
      cursors.use(cursor);
      return Plan.NOTHING;
    }
    return planRead(cursor, position, end, touched);
  }

  /**
   * Ranges of a vectored read are about to be served. Each counts as a read, and as a jump if no
   * cursor is near; but their reader says itself what it wants, so nothing is prefetched for it.
   */
  public Plan onRanges(List<ByteRange> ranges) {
    // All of them first: a jump to one abandons what nobody wants, not the others.
    for (ByteRange range : ranges) {
      BlockRange touched = blocksOf(range);
      if (!touched.isEmpty()) {
        outstanding.use(touched);
      }
    }
    for (ByteRange range : ranges) {
      BlockRange touched = blocksOf(range);
      if (!touched.isEmpty()) {
        if (pattern.policy() == ReadPolicy.RANDOM) {
          return planRandom(touched);
        }
        onRange(range, touched);
      }
    }
    List<BlockRange> abandoned = outstanding.takeAbandoned();
    return abandoned.isEmpty() ? Plan.NOTHING : new Plan(List.of(), abandoned, false);
  }

  private BlockRange blocksOf(ByteRange range) {
    return layout.covering(range.start(), Math.min(layout.objectSize(), range.end()));
  }

  private void onRange(ByteRange range, BlockRange touched) {
    cursors.countRead(range.length());
    Cursor near = cursors.near(range.start(), (long) GAP_BLOCKS * layout.blockSize());
    if (near != null) {
      near.advance(range.start(), range.end(), touched);
      cursors.use(near);
    } else if (pattern.onJump()) {
      abandonGuesses();
    }
    pattern.onPlanned();
  }

  /** Nothing is prefetched; what another policy left behind is abandoned. */
  private Plan planRandom(BlockRange touched) {
    if (outstanding.count() == 0) {
      return Plan.NOTHING;
    }
    outstanding.use(touched);
    return reset();
  }

  private Plan planRead(@Nullable Cursor near, long position, long end, BlockRange touched) {
    Cursor cursor = near != null ? near : begin(position, touched);
    boolean wasActive = near != null && cursor.active;
    long reachedBefore = cursor.reached;
    long nextBefore = cursor.next;
    if (cursor.advance(position, end, touched) && near != null) {
      cursor.crossings++;
    }
    cursors.use(cursor);
    boolean missed = wasActive && cursor.isContinued() && !outstanding.contains(touched.first());
    outstanding.use(touched);
    if (near == null && cursor.origin == Cursor.Origin.JUMP && pattern.onJump()) {
      abandonGuesses();
    }
    pattern.onPlanned();
    if (reachedBefore < touched.first()) {
      outstanding.abandon(new BlockRange(reachedBefore, touched.first()), cursor);
    }
    absorbPassed(cursor, nextBefore);
    if (!cursor.active && pattern.hasShownEnough(cursor)) {
      windows.open(cursor);
    }
    if (cursor.active && cursor.isContinued()) {
      pattern.onForward();
    }
    return plan(cursor, cursor.active && !wasActive, missed);
  }

  private Plan plan(Cursor cursor, boolean newlyActive, boolean missed) {
    if (ledger.takeFallBack()) {
      windows.fallBack();
    }
    if (!outstanding.contains(cursor.reached)) {
      // The reader comes to what was lost: now it cannot wait.
      cursor.lose(cursor.reached);
    }
    // Blocks that this cursor will want are claimed first, lest they be abandoned and asked again.
    long end = windows.refillEnd(cursor);
    cursor.claimed = end;
    if (end > cursor.asked) {
      outstanding.adopt(new BlockRange(cursor.asked, end), cursor);
    }
    retireIdle();
    if (newlyActive) {
      windows.trimOthers(cursor);
    }
    List<BlockRange> prefetch = windows.refill(cursor, end);
    cursor.claimed = cursor.asked;
    lastPrefetch = prefetch;
    List<BlockRange> abandoned = outstanding.takeAbandoned();
    boolean along = missed && !prefetch.isEmpty() && prefetch.get(0).first() == cursor.reached;
    return prefetch.isEmpty() && abandoned.isEmpty()
        ? Plan.NOTHING
        : new Plan(prefetch, abandoned, along);
  }

  /**
   * A reader really has to wait for the block at {@code position}, which its last {@link #onRead}
   * covered. Call it once for each wait: best when the wait begins, so that what the window gains
   * is under way during the wait. A hand-over between threads is not a wait.
   */
  public Plan onStall(long position) {
    Cursor cursor = cursors.readingAt(position);
    if (pattern.policy() == ReadPolicy.RANDOM || cursor == null) {
      return Plan.NOTHING;
    }
    cursor.stalled = true;
    cursors.use(cursor);
    if (!cursor.active || cursor.held) {
      return Plan.NOTHING;
    }
    windows.grow(cursor);
    // The first read may be the only one: what its wait has earned is asked for when it goes on.
    return cursor.isContinued() ? plan(cursor, false, false) : Plan.NOTHING;
  }

  /**
   * Memory or concurrency refused {@code run} and everything after it in its plan; {@code run} may
   * be the end of a planned run. It is asked for again when the reader has reached another block.
   *
   * <p>The window falls to what was granted, but not below half, and its requests become longer as
   * long as there are some in parallel: if concurrency is short, each request is worth more; if
   * memory is, the window has become smaller.
   */
  public void onRefused(BlockRange run) {
    Cursor cursor = cursors.ownerOf(run.first(), outstanding);
    if (cursor == null) {
      return;
    }
    boolean latest = lastPrefetch.stream().anyMatch(p -> p.contains(run.first()));
    // The end of an older plan is not known: better to ask again for what is already on its way.
    BlockRange rest = new BlockRange(run.first(), layout.blocks());
    for (BlockRange each : latest ? lastPrefetch : List.of(rest)) {
      long from = Math.max(each.first(), run.first());
      if (from < each.end()) {
        outstanding.takeBack(new BlockRange(from, each.end()), cursor);
      }
    }
    cursor.lose(run.first());
    long end = Math.max(run.first(), outstanding.endOf(cursor));
    cursor.asked = Math.max(cursor.reached, Math.min(cursor.asked, end));
    windows.shrink(cursor);
  }

  /** The prefetch of {@code run} was not sent, and nothing was refused: the next plan has it. */
  public void onUnsent(BlockRange run) {
    for (Cursor cursor : cursors.leastRecentFirst()) {
      if (outstanding.takeBack(run, cursor) > 0) {
        cursor.lose(run.first());
      }
    }
  }

  /**
   * The prefetch of {@code run} has failed or was cancelled, and not because this planner abandoned
   * it. It is asked for again with the next plan, in its place; but a cursor asks again for no more
   * blocks than one window and those that its reader has passed, so that a store which refuses
   * everything is not asked without end. The others are asked for when the reader reaches them.
   */
  public void onLost(BlockRange run) {
    for (Cursor cursor : cursors.leastRecentFirst()) {
      long blocks = outstanding.takeBack(run, cursor);
      long allowed = cursor.reached - cursor.startBlock + windows.windowOf(cursor);
      if (blocks > 0 && cursor.askedAgain + blocks <= allowed) {
        cursor.askedAgain += blocks;
        cursor.lose(run.first());
      }
    }
  }

  /**
   * The reader has waited for the block at {@code position}, which its last {@link #onRead}
   * covered, in vain, and fetches it itself.
   */
  public Plan onMiss(long position) {
    Cursor cursor = cursors.readingAt(position);
    if (pattern.policy() == ReadPolicy.RANDOM || cursor == null || !cursor.active) {
      return Plan.NOTHING;
    }
    // A reader that waited may have been idle for long: its cursor is not the one to retire.
    cursors.use(cursor);
    return plan(cursor, false, cursor.isContinued());
  }

  /**
   * Caps the window by the stream's share of memory. May change at any time; what is already out
   * stays.
   *
   * @param bytes how far to be ahead; less than a block stops prefetch
   * @param requests the stream's share of the requests that the client has in flight at once: a
   *     window is not cut into more of them, so long as they have their full length
   */
  public void limitWindow(long bytes, int requests) {
    windows.limit(bytes, requests);
  }

  /** The order of the stream's reads; its public methods need no serialised calls. */
  public AccessPattern pattern() {
    return pattern;
  }

  /** Changes the policy from the next read on. */
  public void setPolicy(ReadPolicy value) {
    pattern.setPolicy(value);
  }

  /** A cursor that prefetches is to be at least so far ahead, within the cap; 0 for no wish. */
  public void setMinimumReadahead(long bytes) {
    windows.setMinimum(bytes);
  }

  /** Forgets all cursors and abandons everything that is out, as for unbuffer and close. */
  public Plan reset() {
    cursors.leastRecentFirst().forEach(outstanding::abandonAll);
    cursors.clear();
    pattern.reset();
    lastPrefetch = List.of();
    return new Plan(List.of(), outstanding.takeAbandoned(), false);
  }

  /** Cursors and windows in bytes, for logs. */
  public String describe() {
    StringBuilder text = new StringBuilder(pattern.toString());
    text.append(", ahead ").append(outstanding.count() * layout.blockSize());
    text.append(" of ").append(windows.cap() * layout.blockSize());
    for (Cursor cursor : cursors.leastRecentFirst()) {
      windows.describe(cursor, text);
    }
    return text.toString();
  }

  /** A cursor for a read that none is near to: forked from one that prefetched it, or new. */
  private Cursor begin(long position, BlockRange touched) {
    Cursor parent = cursors.ownerOf(touched.first(), outstanding);
    if (parent != null) {
      Cursor child = new Cursor(position, touched.first(), Cursor.Origin.FORK);
      windows.fork(parent, child);
      return child;
    }
    Cursor.Origin origin = cursors.haveRead(position) ? Cursor.Origin.REREAD : Cursor.Origin.JUMP;
    Cursor cursor = new Cursor(position, touched.first(), origin);
    if (pattern.isAssumedForward(cursor)) {
      windows.open(cursor);
    }
    return cursor;
  }

  /** The stream jumps about: what was prefetched on one read's evidence is a wrong guess. */
  private void abandonGuesses() {
    for (Cursor cursor : cursors.leastRecentFirst()) {
      if (!cursor.isContinued()) {
        windows.giveUp(cursor);
        cursor.active = false;
      }
    }
  }

  /** {@code cursor} has moved over the position of others: they are one reader now. */
  private void absorbPassed(Cursor cursor, long nextBefore) {
    List<Cursor> all = cursors.leastRecentFirst();
    for (int i = all.size() - 1; i >= 0; i--) {
      Cursor other = all.get(i);
      if (other != cursor && nextBefore < other.next && other.next <= cursor.next) {
        cursor.active |= other.active;
        cursor.windowBlocks = Math.max(cursor.windowBlocks, other.windowBlocks);
        cursor.asked = Math.max(cursor.asked, other.asked);
        cursor.lose(other.due());
        outstanding.handOver(0, layout.blocks(), other, cursor);
        all.remove(i);
      }
    }
  }

  private void retireIdle() {
    long idleBytes = 2L * limits.requestBytes() * Math.max(2, cursors.active());
    long idleReads = 2L * limits.maxCursors();
    for (Cursor idle = cursors.idle(idleBytes, idleReads); idle != null; ) {
      retire(idle);
      idle = cursors.idle(idleBytes, idleReads);
    }
    Cursor surplus = cursors.surplus(limits.maxCursors());
    if (surplus != null) {
      retire(surplus);
    }
  }

  private void retire(Cursor cursor) {
    windows.giveUp(cursor);
    cursors.remove(cursor);
  }
}
