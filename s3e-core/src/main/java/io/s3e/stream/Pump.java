// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectVersion;
import io.s3e.columnar.StreamPlanner;
import io.s3e.fetch.Fetcher;
import io.s3e.fetch.ObjectHandle;
import io.s3e.fetch.RunFetch;
import io.s3e.memory.Block;
import io.s3e.memory.Purpose;
import io.s3e.prefetch.Ahead;
import io.s3e.prefetch.Ahead.Change;
import io.s3e.prefetch.Ahead.Starting;
import io.s3e.prefetch.GuessKind;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.prefetch.Wish;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Makes what is wished for ahead of one reader come. Tells the {@link StreamPlanner} what is read
 * and where the reader waits, shows it the bytes that it wants to see, and compares its wish with
 * what is {@link Ahead}: starts what is absent, as far as there is room, and cancels what is not
 * wanted any more. Never waits for memory or for a block.
 *
 * <p>A moving reader that goes on where nothing new can be wanted yet is not planned for at each
 * block ({@link StreamPlanner#quietBlocks}); the planner hears of all that it read before anything
 * else.
 *
 * <p>Nothing is told of single runs. One that fails or is cancelled leaves its blocks absent, and a
 * mark that some are; the next look finds out which, and has them asked for again. To look twice is
 * harmless: what was started is there, or on its way.
 *
 * <p><b>Threads.</b> Any. Planner and record are guarded by a lock that is held for their
 * arithmetic alone, and for the parsing of a footer; GETs are started without it. Positioned
 * readers that find it taken go on without planning. Where two threads start the same run, the
 * second finds it there.
 */
final class Pump {
  /** In a JVM that is warm all GETs of a look are sent in a tenth of it. */
  private static final long LONGEST_START_NANOS = 8_000_000;

  private final Fetcher fetcher;
  private final ObjectHandle handle;
  private final BlockLayout layout;

  /** Guarded by {@link #planning}, except for its pattern. */
  private final StreamPlanner planner;

  /** Guarded by {@link #planning}. */
  private final Ahead ahead;

  private final ReentrantLock planning = new ReentrantLock();
  private final boolean enabled;
  private final Askers askers;
  private final Object asker = new Object();

  final StartedRuns runs;

  /** Some block that is ahead may be absent. Apart: a run must not keep a forgotten stream. */
  private final AtomicBoolean isDoubtful = new AtomicBoolean();

  /** Of a block: whether it is in memory, on disk or on its way. */
  final LongPredicate isThere;

  /** Whether a thread is about to start a group; what others see of it is not the whole. */
  private final AtomicBoolean isStartingGroup = new AtomicBoolean();

  /** Offset that a moving reader has come to. */
  private volatile long reached;

  /** So far it is not planned for at each block: if it goes on, nothing new can be wanted. */
  private volatile long quietUntil;

  /** What the planner has heard of {@link #reached}. Guarded by {@link #planning}. */
  private long heard;

  /**
   * Bytes that the planner wants to see; null if none. Written with the lock, read by anybody, who
   * may see an older one.
   */
  volatile @Nullable ByteRange wanted;

  /** As {@link #wanted}: where the end of a columnar file begins, or what is behind the object. */
  volatile long tailStart = Long.MAX_VALUE;

  Pump(StreamSource source, ObjectHandle handle, StreamPlanner planner, Ahead ahead) {
    this.fetcher = source.fetcher();
    this.handle = handle;
    this.layout = handle.layout;
    this.planner = planner;
    this.ahead = ahead;
    this.enabled = source.prefetch();
    this.askers = source.askers();
    AtomicBoolean mark = isDoubtful;
    this.runs = new StartedRuns(handle, () -> mark.set(true));
    this.isThere = block -> !fetcher.isAbsent(handle, block);
  }

  ReadPolicy policy() {
    return planner.pattern().policy();
  }

  /** A read of {@code [position, end)} comes to another block: what to {@link #start} behind it. */
  Change onRead(long position, long end, ReadStep step, boolean absent) {
    boolean isMoving = step == ReadStep.MOVE;
    // A moving position goes on to the end of its block as a rule; it is not heard of in between.
    long until = isMoving ? layout.endOf(layout.blockAt(Math.max(position, end - 1))) : end;
    if (isMoving && position == reached && until <= quietUntil && !absent && !isDoubtful.get()) {
      reached = until;
      return Change.NONE;
    }
    return look(
        step,
        () -> {
          if (absent && ahead.contains(layout.blockAt(position))) {
            ahead.verify(isThere);
          }
          ahead.onRead(new ByteRange(position, end));
          planner.onRead(position, end, until);
          if (isMoving) {
            reached = until;
            heard = until;
          }
        });
  }

  /** Tells the planner what was read unheard, before something else changes. */
  private void hear() {
    // What is remembered of files goes by ETag, which the first answer may have told.
    ObjectVersion known = handle.knownVersion();
    if (known != null) {
      planner.identify(known);
    }
    long to = reached;
    if (to > heard) {
      ahead.onRead(new ByteRange(heard, to));
      planner.onRead(heard, to, to);
    }
    heard = to;
    quietUntil = 0;
  }

  /** The position moves in the block last read from: a hint of what is wanted elsewhere. */
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

  /** A reader has waited for its block in vain, and asks for it itself. */
  Change onMiss(ReadStep step) {
    return look(step, () -> ahead.verify(isThere));
  }

  void onStall(long position, ReadStep step, Block awaited) {
    start(look(step, () -> planner.onStall(position)), awaited);
  }

  /** A vectored read of ranges by offset, joined to spans, begins: what to start behind it. */
  Change onVectored(List<ByteRange> ranges, List<ByteRange> spans) {
    handle.progress.onOwnOrder();
    return look(
        ReadStep.MOVE,
        () -> {
          if (spans.stream().anyMatch(this::hasLeft)) {
            ahead.verify(isThere);
          }
          spans.forEach(ahead::onRead);
          planner.onVectored(ranges, spans);
        });
  }

  /** Whether the block in which the bytes begin should be there and is not. */
  private boolean hasLeft(ByteRange bytes) {
    long block = layout.covering(bytes.start(), bytes.end()).first();
    return ahead.contains(block) && !isThere.test(block);
  }

  void onVectoredStall(Block awaited) {
    start(look(ReadStep.MOVE, planner::onVectoredStall), awaited);
  }

  /** Tells the planner what has happened; looks for what it wants, cancels what it does not. */
  private Change look(ReadStep step, Runnable happened) {
    if (!enabled || (step != ReadStep.MOVE && !planning.tryLock())) {
      return Change.NONE;
    }
    if (step == ReadStep.MOVE) {
      planning.lock();
    }
    Change change;
    try {
      hear();
      if (isDoubtful.getAndSet(false)) {
        ahead.verify(isThere);
      }
      int sharing = askers.sharing(asker);
      long share = fetcher.windowBytes(sharing);
      planner.limitWindow(share, fetcher.windowRequests(sharing), fetcher.windowRequests(1), ahead);
      happened.run();
      publish();
      change = ahead.look(planner.wish(), isThere);
      if (step == ReadStep.MOVE && change.starting().isEmpty()) {
        quietUntil = heard + planner.quietBlocks(heard) * layout.blockSize();
      }
    } finally {
      planning.unlock();
    }
    change.dropped().forEach(each -> runs.passOver(layout.bytesOf(each), false, run -> false));
    return change;
  }

  /** What others may see of the planner's state without the lock. */
  private void publish() {
    wanted = enabled ? planner.wants() : null;
    long tail = planner.tailStart();
    if (tail != tailStart) {
      tailStart = tail;
      handle.progress.onOwnOrder();
    }
  }

  void show(ByteRange range, byte[] bytes) {
    configure(() -> planner.onBytes(range, bytes));
  }

  /**
   * Starts what a look found absent, until it is refused.
   *
   * @param awaited the pinned block that the reader waits for; null if for none. Once it is there
   *     the reader is not kept: the first GETs of a JVM take 10 ms of processor time each. The rest
   *     is found by the next look
   */
  void start(Change change, @Nullable Block awaited) {
    List<Starting> starting = change.starting();
    // What is absent of a file on disk is found by each look, and counts as no guess.
    if (starting.isEmpty() || handle.progress.isServedByDisk()) {
      return;
    }
    askers.ask(asker);
    long begun = System.nanoTime();
    for (int i = 0, next; i < starting.size(); i = next) {
      if (awaited != null && awaited.isReady() && System.nanoTime() - begun > LONGEST_START_NANOS) {
        return;
      }
      next = Starting.endOfGroup(starting, i);
      BlockRange rest = start(starting.subList(i, next));
      if (rest != null) {
        refused(new Starting(rest, starting.get(i).of()), starting, i + 1);
        return;
      }
    }
  }

  /** What was refused of the first, with which all of a group are; null if nothing was. */
  private @Nullable BlockRange start(List<Starting> group) {
    BlockRange first = group.get(0).blocks();
    GuessKind kind = group.get(0).of().kind();
    List<RunFetch> sent = new ArrayList<>(1);
    Consumer<RunFetch> accept =
        run -> {
          run.becomesGuess(kind);
          runs.accept(run);
          sent.add(run);
        };
    if (group.size() == 1) {
      long stopped = fetcher.prefetch(handle, first, Purpose.GUESS, accept);
      BlockRange asked = new BlockRange(first.first(), Math.min(stopped, first.end()));
      started(List.of(new Starting(asked, group.get(0).of())), sent);
      return stopped < first.end() ? new BlockRange(stopped, first.end()) : null;
    }
    // Another thread's may be the same one, which must not be refused for want of what it has got.
    if (isStartingGroup.compareAndSet(false, true)) {
      try {
        List<BlockRange> wanted = group.stream().map(Starting::blocks).toList();
        if (!fetcher.prefetchAll(handle, wanted, accept)) {
          return first;
        }
        started(group, sent);
      } finally {
        isStartingGroup.set(false);
      }
    }
    return null;
  }

  /**
   * Notes what was sent, and gives it up if none of it is wished for any more: another thread's
   * look may have come between this one's and the GETs. What another thread started meanwhile, and
   * the reader has read, is not wished for; and what comes for a stream that was closed meanwhile
   * is cancelled, and judged by nobody.
   */
  private void started(List<Starting> sent, List<RunFetch> fetches) {
    boolean isWished = false;
    planning.lock();
    try {
      hear();
      Wish wish = handle.isClosed() ? Wish.NOTHING : planner.wish();
      for (Starting run : sent) {
        long at = run.blocks().first();
        while (at < run.blocks().end() && !wish.contains(at)) {
          at++;
        }
        if (at < run.blocks().end()) {
          ahead.started(new BlockRange(at, run.blocks().end()), run.of());
          isWished = true;
        }
      }
      publish();
    } finally {
      planning.unlock();
    }
    if (!isWished) {
      fetches.forEach(runs::abandon);
    }
  }

  private void refused(Starting first, List<Starting> all, int next) {
    List<Starting> unsent = new ArrayList<>(all.subList(next, all.size()));
    unsent.add(0, first);
    configure(() -> planner.refused(unsent, ahead));
  }

  /** Starts fetching blocks of an object that nobody has opened; the first that was not started. */
  long announce(BlockRange blocks) {
    return enabled ? fetcher.announce(handle, blocks, runs) : blocks.first();
  }

  void setMinimum(long bytes) {
    configure(() -> planner.setMinimumReadahead(bytes));
  }

  private void configure(Runnable change) {
    planning.lock();
    try {
      hear();
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
    configure(
        () -> {
          planner.reset();
          var unused = ahead.look(planner.wish(), isThere);
        });
    askers.leave(asker);
    runs.abandonAll();
  }
}
