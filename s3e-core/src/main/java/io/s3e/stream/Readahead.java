package io.s3e.stream;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectVersion;
import io.s3e.columnar.StreamPlanner;
import io.s3e.fetch.Fetcher;
import io.s3e.fetch.ObjectHandle;
import io.s3e.memory.Block;
import io.s3e.memory.Purpose;
import io.s3e.prefetch.ReadPlanner.Plan;
import io.s3e.prefetch.ReadPolicy;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The prefetch of one opened object: tells the {@link StreamPlanner} what is read, where the reader
 * waits, and what was refused or lost; starts what it plans, cancels what it abandons, and shows it
 * the bytes that it wants to see. Never waits for memory or for a block.
 *
 * <p><b>Threads.</b> Any. The planner is guarded by a lock that is held for its arithmetic alone,
 * for each step of it, and for the parsing of a footer; plans are followed without it. Positioned
 * readers that find it taken go on without planning. Each plan is followed or renounced, once.
 */
final class Readahead {
  /** In a JVM that is warm all GETs of a plan are sent in a tenth of it. */
  private static final long LONGEST_START_NANOS = 8_000_000;

  private final Fetcher fetcher;
  private final ObjectHandle handle;

  /** Guarded by {@link #planning}, except for its pattern. */
  private final StreamPlanner planner;

  private final ReentrantLock planning = new ReentrantLock();
  private final boolean enabled;
  private final Askers askers;
  private final Askers.Asker asker = new Askers.Asker();
  private final StartedRuns runs;

  /** The version as the planner knows it. Guarded by {@link #planning}. */
  private @Nullable ObjectVersion identified;

  /**
   * Bytes that the planner wants to see; null if none. Written with the lock, read by anybody, who
   * may see an older one.
   */
  private volatile @Nullable ByteRange wanted;

  /** As {@link #wanted}, of where the tail begins. */
  private volatile long tailStart = Long.MAX_VALUE;

  /**
   * @param enabled whether anything is fetched before it is asked for
   * @param askers the readers that share what prefetch may take
   */
  Readahead(
      Fetcher fetcher, ObjectHandle handle, StreamPlanner planner, boolean enabled, Askers askers) {
    this.fetcher = fetcher;
    this.handle = handle;
    this.planner = planner;
    this.enabled = enabled;
    this.askers = askers;
    this.runs = new StartedRuns(handle, enabled);
  }

  private BlockLayout layout() {
    return handle.layout();
  }

  /** Where all runs go that are started for the reader, guesses or not. */
  StartedRuns runs() {
    return runs;
  }

  ReadPolicy policy() {
    return planner.pattern().policy();
  }

  /** The plan for a read of {@code [position, end)} that comes to another block. */
  Plan onRead(long position, long end, ReadStep step) {
    if (step == ReadStep.CONTINUATION) {
      return Plan.NOTHING;
    }
    // A moving position goes on to the end of its block as a rule; it is not heard of in between.
    boolean moves = step == ReadStep.MOVE;
    long until = moves ? Math.max(end, layout().endOf(layout().blockAt(position))) : end;
    return plan(() -> planner.onRead(position, end, until), step);
  }

  /**
   * The position goes to {@code position} in the block last read from, which is planned for: a hint
   * of what is wanted elsewhere. Never waits.
   */
  void onSeek(long position) {
    boolean isLayoutKnown = tailStart != Long.MAX_VALUE;
    if (isLayoutKnown && planning.tryLock()) {
      try {
        planner.onSeek(position);
        publish();
      } finally {
        planning.unlock();
      }
    }
  }

  /** The plan for a reader that has waited for its block in vain, and asks for it itself. */
  Plan onMiss(long position, ReadStep step) {
    return plan(() -> planner.onMiss(position), step);
  }

  /** The reader waits for {@code awaited}. */
  void onStall(long position, ReadStep step, Block awaited) {
    follow(plan(() -> planner.onStall(position), step), awaited);
  }

  /**
   * The plan for a vectored read.
   *
   * @param ranges what is wanted, by offset
   * @param spans what is fetched: ranges as they were joined
   */
  Plan onVectored(List<ByteRange> ranges, List<ByteRange> spans) {
    handle.progress().onOwnOrder();
    return plan(() -> planner.onVectored(ranges, spans), ReadStep.MOVE);
  }

  /** A vectored read waits for {@code awaited}, which holds {@code position}. */
  void onVectoredStall(long position, Block awaited) {
    follow(plan(() -> planner.onVectoredStall(position), ReadStep.MOVE), awaited);
  }

  /**
   * A reader finds {@code block} absent. Where it goes in order, the absent blocks behind it are
   * lost too, even those that another stream had asked for.
   */
  void onAbsent(long block) {
    if (enabled && handle.progress().isInOrder()) {
      runs.lost(new BlockRange(block, fetcher.absentUntil(handle, block, layout().blocks())));
    }
  }

  private Plan plan(Supplier<Plan> decision, ReadStep step) {
    if (!enabled) {
      return Plan.NOTHING;
    }
    if (step == ReadStep.MOVE) {
      planning.lock();
    } else if (!planning.tryLock()) {
      return Plan.NOTHING;
    }
    try {
      for (BlockRange run = runs.pollLost(); run != null; run = runs.pollLost()) {
        planner.onLost(run);
      }
      int sharing = askers.sharing(asker);
      planner.limitWindow(fetcher.windowBytes(sharing), fetcher.windowRequests(sharing));
      identify();
      Plan plan = decision.get();
      publish();
      return plan;
    } finally {
      planning.unlock();
    }
  }

  /** What others may see of the planner's state without the lock. */
  private void publish() {
    wanted = enabled ? planner.wants() : null;
    long tail = planner.tailStart();
    if (tail != tailStart) {
      tailStart = tail;
      handle.progress().onOwnOrder();
    }
  }

  /** What is remembered of files goes by ETag, which the first answer may have told. */
  private void identify() {
    ObjectVersion known = identified == null ? handle.knownVersion() : null;
    if (known != null) {
      identified = known;
      planner.identify(known);
    }
  }

  /** Bytes that the planner wants to be shown, once somebody has them; null if none. */
  @Nullable ByteRange wanted() {
    return wanted;
  }

  /**
   * Where the end of a columnar file begins that each reader of it reads; else after the object.
   */
  long tailStart() {
    return tailStart;
  }

  /** The bytes that were {@linkplain #wanted wanted}. */
  void show(ByteRange range, byte[] bytes) {
    configure(() -> planner.onBytes(range, bytes));
  }

  /**
   * Cancels what the plan abandons and starts what it prefetches, until it is refused.
   *
   * @param awaited the pinned block that the reader waits for; null if for none. Once it is there
   *     the reader is not kept: the first GETs of a JVM take 10 ms of processor time each. The rest
   *     of the plan is not sent; the next one asks for it
   */
  void follow(Plan plan, @Nullable Block awaited) {
    if (plan.isNothing()) {
      return;
    }
    plan.abandoned().forEach(this::abandon);
    if (!plan.prefetch().isEmpty()) {
      askers.ask(asker);
    }
    long begun = System.nanoTime();
    for (BlockRange run : plan.prefetch()) {
      if (awaited != null && awaited.isReady() && System.nanoTime() - begun > LONGEST_START_NANOS) {
        configure(() -> planner.onUnsent(run));
        continue;
      }
      long stopped = fetcher.prefetch(handle, run, Purpose.GUESS, runs);
      if (stopped < run.end()) {
        refused(new BlockRange(stopped, run.end()));
        return;
      }
    }
  }

  /**
   * Starts fetching blocks of an object that nobody has opened, as far as there is room.
   *
   * @return the first block that was not started
   */
  long announce(BlockRange wanted) {
    return enabled ? fetcher.announce(handle, wanted, runs) : wanted.first();
  }

  /** The read that {@code plan} was made for has failed: nothing of it is sent. */
  void renounce(Plan plan) {
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
    configure(() -> planner.setPolicy(policy));
  }

  void setMinimum(long bytes) {
    configure(() -> planner.setMinimumReadahead(bytes));
  }

  private void configure(Runnable change) {
    planning.lock();
    try {
      identify();
      change.run();
      publish();
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
