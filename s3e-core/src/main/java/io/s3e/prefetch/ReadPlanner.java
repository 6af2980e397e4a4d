package io.s3e.prefetch;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import java.util.ArrayList;
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
 * ReadPolicy#SEQUENTIAL} and {@link ReadPolicy#WHOLE_FILE} from its first read. Under {@link
 * ReadPolicy#ADAPTIVE} from its first read if that is the stream's first and lies at the start of
 * the split; else once reads have gone on from one block into the next, several times if the stream
 * has jumped about. A cursor that began inside data already read also has to wait for bytes first,
 * for memory probably holds them.
 *
 * <p><b>How far.</b> The window starts small and doubles for each wait of the reader, up to the
 * cap; a refusal halves it. It is cut into {@link Limits#parallelRamp} requests until these have
 * their full length. Requests are issued whole, when one of them fits into the window. Cursors that
 * prefetch share the cap. Prefetch stops at the split's end; a reader that goes on for more than a
 * block beyond it gets one small request ahead.
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

    /** The limits for blocks and requests of these sizes, in bytes. */
    public static Limits defaults(int blockBytes, int requestBytes) {
      int small = Math.min(requestBytes, Math.max(blockBytes, 512 << 10));
      return new Limits(16 * small, small, requestBytes, 20L * requestBytes, 8, 16);
    }
  }

  /**
   * What to do now.
   *
   * @param prefetch runs to fetch, nearest first, each at most one request long
   * @param abandoned runs whose prefetch nobody wants any more; parts of what was asked for
   */
  public record Plan(List<BlockRange> prefetch, List<BlockRange> abandoned) {
    /** Nothing to do. */
    public static final Plan NOTHING = new Plan(List.of(), List.of());

    /** Whether there is nothing to do. */
    public boolean isNothing() {
      return prefetch.isEmpty() && abandoned.isEmpty();
    }
  }

  /** A shorter wait is the hand-over between threads, not a window that was too small. */
  private static final long SHORTEST_STALL_NANOS = 100_000;

  /** Jumps in a row after which an adaptive stream counts as random. */
  private static final int RANDOM_AFTER_JUMPS = 3;

  /** Times that a cursor must go on into another block, in a stream that counts as random. */
  private static final int CROSSINGS_AFTER_JUMPS = 3;

  private static final int MAX_CROSSINGS = 8;

  /** A forward skip or a step back of so many blocks is still the same cursor. */
  private static final int GAP_BLOCKS = 4;

  /** The period over which waste is counted, in initial windows. */
  private static final int LEDGER_WINDOWS = 8;

  private final BlockLayout layout;
  private final Limits limits;
  private final RequestSizing sizing;
  private final Outstanding outstanding = new Outstanding();
  private final Cursors cursors = new Cursors();
  private final WasteLedger ledger;
  private final long initialBlocks;

  private ReadPolicy policy;
  private long splitStart;
  private long splitEnd;
  private long windowLimit = Long.MAX_VALUE;
  private long minimumReadahead;

  /** No read was seen since the stream was opened or reset. */
  private boolean fresh = true;

  private int jumps;
  private long servedBytes;
  private long servedReads;

  /** The latest prefetch and who wanted it, for {@link #onRefused}. */
  private List<BlockRange> lastPrefetch = List.of();

  private List<BlockRange> abandoned = new ArrayList<>();

  /**
   * A planner for one stream.
   *
   * @param splitStart first byte that the reader expects to need, 0 if unknown
   * @param splitEnd byte after the last that it expects to need, -1 if unknown
   */
  public ReadPlanner(
      BlockLayout layout, ReadPolicy policy, long splitStart, long splitEnd, Limits limits) {
    this.layout = Objects.requireNonNull(layout, "layout");
    this.policy = Objects.requireNonNull(policy, "policy");
    this.limits = Objects.requireNonNull(limits, "limits");
    this.splitStart = splitStart;
    this.splitEnd = splitEnd;
    this.sizing = RequestSizing.of(layout, limits);
    this.ledger = new WasteLedger((long) LEDGER_WINDOWS * limits.initialWindowBytes());
    this.initialBlocks = layout.blocksOver(limits.initialWindowBytes());
  }

  /**
   * A read of {@code length} bytes at {@code position} is about to be served. Its own blocks are
   * fetched by the caller and are not part of the plan, but count as asked for. What lies outside
   * the object is ignored.
   */
  public Plan onRead(long position, long length) {
    if (length <= 0 || position < 0 || position >= layout.objectSize()) {
      return Plan.NOTHING;
    }
    long end = position + Math.min(length, layout.objectSize() - position);
    BlockRange touched = layout.covering(position, end);
    if (policy == ReadPolicy.RANDOM) {
      return planRandom(touched);
    }
    servedBytes += end - position;
    servedReads++;
    Cursor cursor = cursors.near(position, (long) GAP_BLOCKS * layout.blockSize());
    if (cursor != null
        && touched.count() == 1
        && touched.end() == cursor.reached
        && !outstanding.contains(touched.first())) {
      cursor.advance(position, end, touched);
      markUsed(cursor);
      return Plan.NOTHING;
    }
    return planRead(cursor, position, end, touched);
  }

  /** Nothing is prefetched; what another policy left behind is abandoned. */
  private Plan planRandom(BlockRange touched) {
    if (outstanding.count() == 0) {
      return Plan.NOTHING;
    }
    ledger.used(outstanding.remove(touched) * layout.blockSize());
    return reset();
  }

  private Plan planRead(@Nullable Cursor near, long position, long end, BlockRange touched) {
    Cursor cursor = near != null ? near : begin(position, touched);
    long passedFrom = cursor.reached;
    long nextBefore = cursor.next;
    boolean wasActive = cursor.active;
    if (cursor.advance(position, end, touched) && near != null) {
      cursor.crossings++;
    }
    markUsed(cursor);
    fresh = false;
    ledger.used(outstanding.remove(touched) * layout.blockSize());
    if (passedFrom < touched.first()) {
      abandon(new BlockRange(passedFrom, touched.first()), cursor);
    }
    absorbPassed(cursor, nextBefore);
    if (!cursor.active && hasShownEnough(cursor)) {
      activate(cursor);
    }
    return plan(cursor, cursor.active && !wasActive);
  }

  /**
   * The reader of the last {@link #onRead} really had to wait {@code waitedNanos} ns for the block
   * at {@code position}; call it once for each wait, when the wait is over.
   */
  public Plan onStall(long position, long waitedNanos) {
    Cursor cursor = cursors.readingAt(position);
    if (policy == ReadPolicy.RANDOM || waitedNanos < SHORTEST_STALL_NANOS || cursor == null) {
      return Plan.NOTHING;
    }
    cursor.stalled = true;
    markUsed(cursor);
    if (!cursor.active || cursor.held) {
      return Plan.NOTHING;
    }
    cursor.windowBlocks = Math.min(shareBlocks(), 2 * effectiveWindow(cursor));
    // The first read may be the only one: what its wait has earned is asked for when it goes on.
    return cursor.isContinued() ? plan(cursor, false) : Plan.NOTHING;
  }

  /**
   * Memory or concurrency refused {@code run} and everything after it in the plan that held it, or
   * the part of that plan from the start of {@code run} on. It is asked for again when the reader
   * has reached another block.
   */
  public void onRefused(BlockRange run) {
    if (run.isEmpty()) {
      return;
    }
    Cursor cursor = cursors.ownerOf(run.first(), outstanding);
    if (cursor == null) {
      return;
    }
    BlockRange refused = run;
    for (BlockRange planned : lastPrefetch) {
      if (planned.contains(run.first())) {
        refused = new BlockRange(run.first(), lastPrefetch.get(lastPrefetch.size() - 1).end());
      }
    }
    for (BlockRange planned : refused.equals(run) ? List.of(run) : lastPrefetch) {
      long from = Math.max(planned.first(), refused.first());
      if (from < planned.end()) {
        outstanding.removeOwned(new BlockRange(from, planned.end()), cursor, new ArrayList<>());
      }
    }
    cursor.asked = Math.max(cursor.reached, Math.min(cursor.asked, run.first()));
    cursor.windowBlocks = Math.max(sizing.minBlocks(), effectiveWindow(cursor) / 2);
    cursor.held = true;
  }

  /**
   * Caps the window, from measured bandwidth × latency and the stream's share of memory. May change
   * at any time; what is already out stays. Less than a block stops prefetch.
   */
  public void limitWindow(long bytes) {
    windowLimit = Math.max(0, bytes);
  }

  /** Changes the policy from the next read on. */
  public void setPolicy(ReadPolicy value) {
    policy = Objects.requireNonNull(value, "policy");
  }

  /** Changes the split from the next read on; {@code end} is -1 if unknown. */
  public void setSplit(long start, long end) {
    splitStart = start;
    splitEnd = end;
  }

  /** A cursor that prefetches is to be at least so far ahead, within the cap; 0 for no wish. */
  public void setMinimumReadahead(long bytes) {
    minimumReadahead = Math.max(0, bytes);
  }

  /** Forgets all cursors and abandons everything that is out, as for unbuffer and close. */
  public Plan reset() {
    for (Cursor cursor : cursors.leastRecentFirst()) {
      abandon(everything(), cursor);
    }
    cursors.clear();
    fresh = true;
    lastPrefetch = List.of();
    return new Plan(List.of(), takeAbandoned());
  }

  /** Cursors and windows, for logs. */
  public String describe() {
    StringBuilder text = new StringBuilder(policy.toString());
    if (policy == ReadPolicy.ADAPTIVE) {
      text.append(countsAsRandom() ? " (jumping)" : cursors.active() > 0 ? " (forward)" : "");
    }
    text.append(", ahead ").append(outstanding.count() * layout.blockSize());
    text.append(" of ").append(capBlocks() * layout.blockSize());
    for (Cursor cursor : cursors.leastRecentFirst()) {
      text.append("; at ").append(cursor.next);
      if (cursor.active) {
        text.append(" window ").append(effectiveWindow(cursor) * layout.blockSize());
      }
      text.append(" ahead ").append(outstanding.countOf(cursor) * layout.blockSize());
      text.append(cursor.held ? " held" : "");
    }
    if (ledger.distrust() > 0) {
      text.append("; distrust ").append(ledger.distrust());
    }
    return text.toString();
  }

  // Cursors

  /** A cursor for a read that none is near to: forked from one that prefetched it, or new. */
  private Cursor begin(long position, BlockRange touched) {
    Cursor parent = cursors.ownerOf(touched.first(), outstanding);
    boolean rereading = parent == null && cursors.haveRead(position);
    Cursor cursor = new Cursor(position, touched.first(), rereading);
    if (parent != null) {
      fork(parent, cursor, touched);
    } else if (isAssumedSequential(cursor, touched)) {
      activate(cursor);
    }
    if (!fresh && parent == null && !rereading && ++jumps == RANDOM_AFTER_JUMPS) {
      abandonGuesses();
    }
    return cursor;
  }

  private void fork(Cursor parent, Cursor child, BlockRange touched) {
    child.active = parent.active;
    child.windowBlocks = parent.windowBlocks;
    child.crossings = parent.crossings;
    child.asked = Math.max(child.asked, parent.asked);
    outstanding.adopt(new BlockRange(touched.first(), layout.blocks()), child, parent);
    parent.asked = Math.max(parent.reached, Math.min(parent.asked, touched.first()));
    parent.active = false;
    parent.crossings = 0;
  }

  private boolean isAssumedSequential(Cursor cursor, BlockRange touched) {
    if (cursor.rereading || ledger.distrust() > 0 || touched.first() >= splitLimit()) {
      return false;
    }
    long fromSplitStart = touched.first() - layout.covering(splitStart, splitStart + 1).first();
    if (policy == ReadPolicy.ADAPTIVE) {
      return fresh && Math.abs(fromSplitStart) <= 1;
    }
    return fromSplitStart >= -1;
  }

  private boolean hasShownEnough(Cursor cursor) {
    int base = countsAsRandom() ? CROSSINGS_AFTER_JUMPS : 1;
    int needed = Math.min(MAX_CROSSINGS, base << ledger.distrust());
    return cursor.crossings >= needed && (!cursor.rereading || cursor.stalled);
  }

  private boolean countsAsRandom() {
    return policy == ReadPolicy.ADAPTIVE && jumps >= RANDOM_AFTER_JUMPS;
  }

  private void activate(Cursor cursor) {
    long shown = 2 * layout.blocksOver(cursor.next - cursor.runStart);
    cursor.active = true;
    cursor.windowBlocks =
        cursor.isContinued()
            ? Math.max(Math.min(sizing.minBlocks(), initialBlocks), Math.min(shown, initialBlocks))
            : initialBlocks;
    if (policy == ReadPolicy.WHOLE_FILE) {
      cursor.windowBlocks = Math.max(initialBlocks, sizing.maxBlocks());
    }
    if (cursor.isContinued()) {
      jumps = 0;
    }
  }

  private void markUsed(Cursor cursor) {
    cursors.use(cursor);
    cursor.servedAtUse = servedBytes;
    cursor.readsAtUse = servedReads;
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
        outstanding.adopt(everything(), cursor, other);
        all.remove(i);
      }
    }
  }

  private void retireIdle() {
    long idleBytes = 2L * limits.requestBytes() * Math.max(2, cursors.active());
    List<Cursor> all = cursors.leastRecentFirst();
    for (int i = all.size() - 1; i >= 0; i--) {
      Cursor cursor = all.get(i);
      if (servedBytes - cursor.servedAtUse > idleBytes
          && servedReads - cursor.readsAtUse > 2L * limits.maxCursors()) {
        retire(cursor);
      }
    }
    for (Cursor c = cursors.surplus(limits.maxCursors());
        c != null;
        c = cursors.surplus(limits.maxCursors())) {
      retire(c);
    }
  }

  private void retire(Cursor cursor) {
    abandon(everything(), cursor);
    cursors.remove(cursor);
  }

  /** The stream jumps about: what was prefetched on one read's evidence is a wrong guess. */
  private void abandonGuesses() {
    for (Cursor cursor : cursors.leastRecentFirst()) {
      if (!cursor.isContinued() && policy == ReadPolicy.ADAPTIVE) {
        abandon(everything(), cursor);
        cursor.asked = cursor.reached;
        cursor.active = false;
      }
    }
  }

  // Windows

  private Plan plan(Cursor cursor, boolean newlyActive) {
    long end = refillEnd(cursor);
    if (end > cursor.asked) {
      outstanding.adopt(new BlockRange(cursor.asked, end), cursor);
    }
    retireIdle();
    if (newlyActive) {
      trimToShare(cursor);
    }
    List<BlockRange> prefetch = issue(cursor, end);
    List<BlockRange> dropped = takeAbandoned();
    lastPrefetch = prefetch;
    return prefetch.isEmpty() && dropped.isEmpty() ? Plan.NOTHING : new Plan(prefetch, dropped);
  }

  /** Where {@code cursor} should have asked up to; at most {@code asked} if nothing is due. */
  private long refillEnd(Cursor cursor) {
    long limit = splitLimit();
    long window = effectiveWindow(cursor);
    if (cursor.reached > limit + 1) {
      limit = layout.blocks();
      window = Math.min(window, sizing.minBlocks());
    }
    if (!cursor.active || cursor.held || window == 0 || cursor.asked >= limit) {
      return cursor.asked;
    }
    long target = Math.min(limit, cursor.reached + window);
    return sizing.refillEnd(cursor.asked, target, limit, sizing.requestFor(window));
  }

  private List<BlockRange> issue(Cursor cursor, long end) {
    if (end <= cursor.asked) {
      return List.of();
    }
    long request = sizing.requestFor(effectiveWindow(cursor));
    List<BlockRange> prefetch = new ArrayList<>();
    for (BlockRange gap : outstanding.missingFrom(new BlockRange(cursor.asked, end))) {
      long room = makeRoom(gap.count(), cursor);
      BlockRange granted = new BlockRange(gap.first(), gap.first() + Math.min(room, gap.count()));
      if (!granted.isEmpty()) {
        sizing.cut(granted, request, prefetch);
        outstanding.add(granted, cursor);
      }
      cursor.asked = granted.end();
      if (room < gap.count()) {
        return prefetch;
      }
    }
    cursor.asked = end;
    return prefetch;
  }

  /** Blocks that may still go out, after cursors that no longer prefetch have given way. */
  private long makeRoom(long wanted, Cursor cursor) {
    for (Cursor other : cursors.leastRecentFirst()) {
      if (capBlocks() - outstanding.count() >= wanted) {
        break;
      }
      if (other != cursor && !other.active) {
        abandon(everything(), other);
        other.asked = other.reached;
      }
    }
    return Math.max(0, capBlocks() - outstanding.count());
  }

  /** One more cursor prefetches: the others keep what is nearest to their readers. */
  private void trimToShare(Cursor cursor) {
    long share = shareBlocks();
    for (Cursor other : cursors.leastRecentFirst()) {
      if (other != cursor && other.active && other.asked > other.reached + share) {
        abandon(new BlockRange(other.reached + share, layout.blocks()), other);
        other.asked = other.reached + share;
      }
    }
  }

  private long capBlocks() {
    return Math.min(limits.maxWindowBytes(), windowLimit) / layout.blockSize();
  }

  private long shareBlocks() {
    return capBlocks() / Math.max(1, cursors.active());
  }

  private long effectiveWindow(Cursor cursor) {
    long wanted = Math.max(cursor.windowBlocks, layout.blocksOver(minimumReadahead));
    return Math.min(wanted, shareBlocks());
  }

  /** Block after the last one that holds a byte of the split. */
  private long splitLimit() {
    return splitEnd < 0 ? layout.blocks() : layout.covering(0, splitEnd).end();
  }

  // Accounting

  private BlockRange everything() {
    return new BlockRange(0, layout.blocks());
  }

  private void abandon(BlockRange run, Cursor owner) {
    long before = outstanding.count();
    outstanding.removeOwned(run, owner, abandoned);
    long bytes = (before - outstanding.count()) * layout.blockSize();
    if (bytes > 0 && ledger.wasted(bytes)) {
      for (Cursor cursor : cursors.leastRecentFirst()) {
        cursor.windowBlocks = Math.min(cursor.windowBlocks, initialBlocks);
      }
    }
  }

  private List<BlockRange> takeAbandoned() {
    if (abandoned.isEmpty()) {
      return List.of();
    }
    List<BlockRange> taken = abandoned;
    abandoned = new ArrayList<>();
    return taken;
  }
}
