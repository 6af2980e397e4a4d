package io.s3e.stream;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.fetch.Fetcher;
import io.s3e.fetch.ObjectHandle;
import io.s3e.fetch.ObjectTruncatedException;
import io.s3e.memory.Block;
import io.s3e.memory.Purpose;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.prefetch.ReadPlanner;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.prefetch.ScanDetector;
import java.io.IOException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The read path of one opened object: position in, pinned block out. Tells the {@link ReadPlanner}
 * what is read and where the reader had to wait, and starts what it plans.
 *
 * <p>Any number of threads may {@link #acquire} at once. The planner is guarded by a lock that is
 * held for its arithmetic alone, for each step of it, and never while waiting; positioned readers
 * that find it taken go on without planning.
 */
public final class BlockReader {
  /** A wait is a stall from here on; less is the hand-over between two threads. */
  private static final long STALL_NANOS = 200_000;

  /** A random positioned read of less than this part of a small object does not fetch all of it. */
  private static final int SMALL_PART = 4;

  private final Fetcher fetcher;
  private final ObjectHandle handle;
  private final ReadPlanner planner;
  private final boolean prefetch;
  private final long maxWindowBytes;
  private final Askers askers;
  private final Askers.Asker asker = new Askers.Asker();
  private final ReentrantLock planning = new ReentrantLock();
  private final ScanDetector scan = new ScanDetector();

  private final StartedRuns runs;

  /**
   * @param maxWindowBytes configured cap of the readahead window, in bytes; 0 for none
   * @param askers the readers that share what prefetch may take
   */
  public BlockReader(
      Fetcher fetcher,
      ObjectHandle handle,
      ReadPlanner planner,
      boolean prefetch,
      long maxWindowBytes,
      Askers askers) {
    this.fetcher = fetcher;
    this.handle = handle;
    this.planner = planner;
    this.prefetch = prefetch;
    this.maxWindowBytes = maxWindowBytes;
    this.askers = askers;
    this.runs = new StartedRuns(handle);
    scan.announce(planner.isSaidToScan());
  }

  ObjectHandle handle() {
    return handle;
  }

  private BlockLayout layout() {
    return handle.layout();
  }

  /**
   * The block that holds {@code position}, ready and pinned, if it is in memory; null otherwise.
   * Never waits and starts nothing.
   */
  @Nullable Block peek(long position) {
    Block block = fetcher.find(handle, layout().blockAt(position));
    if (block == null) {
      return null;
    }
    if (!block.isReady() || position >= block.end()) {
      block.unpin();
      return null;
    }
    return block;
  }

  /** The steps of a read that the planner hears of. */
  enum Step {
    /** A moving position begins a read, or leaves the block it was in. */
    MOVE,
    /** A positioned read begins. */
    POSITIONED,
    /** A read goes on that the planner has been told of. */
    CONTINUATION
  }

  /**
   * The block that holds {@code position}, ready and pinned. Fetches what is missing of {@code
   * [position, end)} in parallel and waits for the first block of it.
   *
   * @param end where the read ends, after {@code position} and inside the object
   * @param deadline by {@link System#nanoTime()}
   * @throws io.s3e.fetch.ObjectTruncatedException if the object ends before {@code position}
   */
  Block acquire(long position, long end, Step step, long deadline) throws IOException {
    Block ready = acquireReady(position, end, step);
    if (ready != null) {
      return ready;
    }
    look(position, end);
    Block fetched = fetch(position, end, step, deadline);
    fetched.touch();
    return fetched;
  }

  /**
   * As {@link #acquire}, if the block is in memory; null otherwise. Never waits for a block, and
   * starts nothing for the block itself.
   */
  @Nullable Block acquireReady(long position, long end, Step step) {
    Block block = peek(position);
    if (block == null) {
      return null;
    }
    look(position, end);
    fetcher.metrics().count(Counter.MEMORY_HITS);
    handle.listener().onMemoryHit(Math.min(end, block.end()) - position);
    follow(planRead(position, end, step));
    block.touch();
    return block;
  }

  /** Notes where the reader is and how it goes through the object. */
  private void look(long position, long end) {
    handle.onRead(position);
    scan.onRead(position, end);
    handle.setPattern(scan.isInOrder(), scan.isScanning());
  }

  private Block fetch(long position, long end, Step step, long deadline) throws IOException {
    requireInside(position);
    long started = System.nanoTime();
    BlockRange wanted = layout().covering(position, end);
    Block block = fetcher.find(handle, wanted.first());
    if (block == null) {
      noteAbsent(wanted.first());
    }
    ReadPlanner.Plan plan = planRead(position, end, step);
    boolean followed = false;
    boolean stalled = false;
    Exception last = null;
    for (; ; ) {
      if (block == null) {
        boolean whole = isSmall() && !isGlance(position, end, step);
        block = demand(wanted, followed ? ReadPlanner.Plan.NOTHING : plan, whole, deadline);
      }
      if (block != null) {
        boolean ready = false;
        try {
          if (!followed) {
            followed = true;
            // Not the block in hand: it may have failed by now, which is for its reader to hear.
            startAsked(wanted, wanted.first() + 1, Pieces.OF_READ);
            follow(plan);
          }
          // Grow the window while waiting and not afterwards: the wait is what it is to shorten.
          if (!stalled && !fetcher.isReadyWithin(block, STALL_NANOS)) {
            stalled = true;
            follow(plan(() -> planner.onStall(position, STALL_NANOS), step == Step.MOVE));
          }
          // The object may have turned out to end inside the block.
          ready = fetcher.await(handle, block, deadline) && position < block.end();
        } finally {
          if (!ready) {
            last = block.failure();
            block.unpin();
          }
        }
        if (ready) {
          long waited = System.nanoTime() - started;
          fetcher.metrics().count(Counter.WAITS);
          fetcher.metrics().add(Counter.WAIT_NANOS, waited);
          handle.listener().onStall(position, waited);
          return block;
        }
      }
      requireInside(position);
      fetcher.checkDeadline(handle, last, deadline);
      block = fetcher.find(handle, wanted.first());
      if (block == null && followed) {
        noteAbsent(wanted.first());
        plan = plan(() -> planner.onMiss(position), step == Step.MOVE);
        followed = false;
      }
    }
  }

  /** Whether a read of a small object says that it will hardly need the rest of it. */
  private boolean isGlance(long position, long end, Step step) {
    return step == Step.POSITIONED
        && planner.policy() == ReadPolicy.RANDOM
        && (end - position) * SMALL_PART < handle.size();
  }

  private void requireInside(long position) throws ObjectTruncatedException {
    if (position >= handle.size()) {
      throw new ObjectTruncatedException("offset " + position + " is behind the end", null);
    }
  }

  /**
   * Where a reader in order has to fetch a block itself, the absent blocks behind it are lost too,
   * even those that another stream had asked for.
   */
  private void noteAbsent(long block) {
    if (prefetch && handle.isInOrder()) {
      runs.lost(new BlockRange(block, fetcher.absentUntil(handle, block, layout().blocks())));
    }
  }

  /**
   * Starts fetching the first block of {@code wanted}, pinned; null if another thread was quicker.
   *
   * @param plan what the planner made of the read and nobody has followed yet
   * @param whole whether all of the object that is absent comes by the same GET
   */
  private @Nullable Block demand(
      BlockRange wanted, ReadPlanner.Plan plan, boolean whole, long deadline) throws IOException {
    long first = whole ? firstAbsent(wanted.first()) : wanted.first();
    int count = Pieces.OF_READ.count(wanted, layout());
    long piece = count > 1 ? Pieces.piece(wanted, 0, count).end() : plan.alongUntil(wanted);
    long end = whole ? wholeObject().end() : piece;
    long ahead = endOfPlanned(plan, Math.max(end, wanted.end()));
    boolean admitted = false;
    try {
      Block block = fetcher.demand(handle, first, end, ahead, deadline, runs);
      admitted = true;
      if (block == null || first == wanted.first()) {
        return block;
      }
      block.unpin();
      return fetcher.find(handle, wanted.first());
    } finally {
      if (!admitted) {
        renounce(plan);
      }
    }
  }

  /** The first of the blocks before {@code block} that are, without a gap, as absent as it is. */
  private long firstAbsent(long block) {
    long first = block;
    while (first > 0) {
      Block before = fetcher.find(handle, first - 1);
      if (before != null) {
        before.unpin();
        break;
      }
      first--;
    }
    return first;
  }

  /**
   * The block that holds {@code position}, for a reader that does not wait: there, on its way, or
   * asked for now together with what is missing of {@code [position, end)}. Null if there is no
   * room, if its fetch is just being given up, or if another tenant fetches it.
   */
  @Nullable Expected expect(long position, long end) {
    BlockRange wanted = layout().covering(position, end);
    Block block = fetcher.find(handle, wanted.first());
    if (block == null) {
      startAsked(wanted, wanted.first(), Pieces.OF_READ);
      block = fetcher.find(handle, wanted.first());
    }
    if (block != null && !block.isReady() && fetcher.isAnothers(block)) {
      block.unpin();
      return null;
    }
    return block == null ? null : Expected.of(fetcher, block);
  }

  /** As {@link #expect}, and waits for room. */
  Expected expectWaiting(long position, long end, long deadline) throws IOException {
    BlockRange wanted = layout().covering(position, end);
    for (; ; ) {
      requireInside(position);
      Block block = fetcher.find(handle, wanted.first());
      if (block == null) {
        block = demand(wanted, ReadPlanner.Plan.NOTHING, isSmall(), deadline);
      }
      Expected expected = block == null ? null : expected(block, deadline);
      if (expected != null) {
        return expected;
      }
      fetcher.checkDeadline(handle, null, deadline);
    }
  }

  private @Nullable Expected expected(Block pinned, long deadline) throws IOException {
    boolean comes = false;
    try {
      comes = !fetcher.isAnothers(pinned) || fetcher.await(handle, pinned, deadline);
    } finally {
      if (!comes) {
        pinned.unpin();
      }
    }
    return comes ? Expected.of(fetcher, pinned) : null;
  }

  /** The expected block is ready, and is read from {@code position} on. */
  void arrived(Expected expected, long position, long end) {
    look(position, end);
    long waited = expected.waitedNanos();
    fetcher.metrics().count(Counter.WAITS);
    fetcher.metrics().add(Counter.WAIT_NANOS, waited);
    handle.listener().onStall(position, waited);
    expected.block().touch();
  }

  /** Tells the planner of a range of a vectored read. Nothing is prefetched for it. */
  void readsRange(ByteRange range) {
    if (!range.isEmpty()) {
      follow(plan(() -> planner.onRange(range.start(), range.length()), true));
    }
  }

  /** Starts fetching what somebody will read in a moment, as far as there is room. */
  void announce(ByteRange range, Pieces pieces) {
    BlockRange asked = isSmall() ? wholeObject() : layout().covering(range.start(), range.end());
    startAsked(asked, asked.first(), pieces);
  }

  /** Starts what is missing of {@code asked} from a block on, in pieces, until one has no room. */
  private void startAsked(BlockRange asked, long from, Pieces pieces) {
    int count = pieces.count(asked, layout());
    for (int i = 0; i < count; i++) {
      BlockRange piece = Pieces.piece(asked, i, count);
      BlockRange rest =
          new BlockRange(Math.min(piece.end(), Math.max(piece.first(), from)), piece.end());
      if (fetcher.prefetch(handle, rest, Purpose.ASKED, runs) < piece.end()) {
        return;
      }
    }
  }

  /** Whether one GET brings all of the object as soon as a part of it. */
  private boolean isSmall() {
    return handle.size() <= Pieces.UNCUT_BYTES;
  }

  private BlockRange wholeObject() {
    return layout().covering(0, handle.size());
  }

  private ReadPlanner.Plan planRead(long position, long end, Step step) {
    if (step == Step.CONTINUATION) {
      return ReadPlanner.Plan.NOTHING;
    }
    // A moving position goes on to the end of its block as a rule; it is not heard of in between.
    boolean moves = step == Step.MOVE;
    long until = moves ? Math.max(end, layout().endOf(layout().blockAt(position))) : end;
    return plan(() -> planner.onRead(position, until - position), moves);
  }

  private ReadPlanner.Plan plan(Supplier<ReadPlanner.Plan> step, boolean mayWait) {
    if (!prefetch) {
      return ReadPlanner.Plan.NOTHING;
    }
    if (mayWait) {
      planning.lock();
    } else if (!planning.tryLock()) {
      return ReadPlanner.Plan.NOTHING;
    }
    try {
      for (BlockRange run = runs.pollLost(); run != null; run = runs.pollLost()) {
        planner.onLost(run);
      }
      int sharing = askers.sharing(asker);
      planner.limitWindow(windowLimit(sharing), fetcher.windowRequests(sharing));
      ReadPlanner.Plan plan = step.get();
      scan.announce(planner.isSaidToScan());
      return plan;
    } finally {
      planning.unlock();
    }
  }

  /** Where the planned prefetch ends that goes on from {@code end} without a gap. */
  private static long endOfPlanned(ReadPlanner.Plan plan, long end) {
    long until = end;
    for (BlockRange run : plan.prefetch()) {
      if (run.first() == until) {
        until = run.end();
      }
    }
    return until;
  }

  private long windowLimit(int sharing) {
    long share = fetcher.windowBytes(sharing);
    return maxWindowBytes > 0 ? Math.min(maxWindowBytes, share) : share;
  }

  private void follow(ReadPlanner.Plan plan) {
    if (plan.isNothing()) {
      return;
    }
    plan.abandoned().forEach(this::abandon);
    if (!plan.prefetch().isEmpty()) {
      askers.ask(asker);
    }
    for (BlockRange run : plan.prefetch()) {
      long stopped = fetcher.prefetch(handle, run, Purpose.GUESS, runs);
      if (stopped < run.end()) {
        refused(new BlockRange(stopped, run.end()));
        return;
      }
    }
  }

  /** The read that {@code plan} was made for has failed: nothing of it is sent. */
  private void renounce(ReadPlanner.Plan plan) {
    plan.abandoned().forEach(this::abandon);
    if (!plan.prefetch().isEmpty()) {
      refused(plan.prefetch().get(0));
    }
  }

  private void refused(BlockRange run) {
    configure(() -> planner.onRefused(run));
  }

  private void abandon(BlockRange range) {
    runs.abandon(layout().bytesOf(range));
  }

  /** Says that these bytes will not be read: what was started for them alone is cancelled. */
  void forget(ByteRange range) {
    abandon(layout().covering(range.start(), range.end()));
  }

  void setPolicy(ReadPolicy policy) {
    configure(
        () -> {
          planner.setPolicy(policy);
          scan.announce(planner.isSaidToScan());
        });
  }

  void setSplit(long start, long end) {
    configure(() -> planner.setSplit(start, end));
  }

  void setMinimumReadahead(long bytes) {
    configure(() -> planner.setMinimumReadahead(bytes));
  }

  private void configure(Runnable change) {
    planning.lock();
    try {
      change.run();
    } finally {
      planning.unlock();
    }
  }

  /**
   * Cancels what is under way, lets go what came and nobody read, forgets the pattern, and leaves
   * its share of prefetch to others.
   */
  void release() {
    configure(planner::reset);
    askers.leave(asker);
    runs.abandonAll();
  }
}
