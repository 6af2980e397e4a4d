package io.s3e.stream;

import io.s3e.block.ByteRange;
import io.s3e.fetch.Patience;
import io.s3e.memory.Block;
import io.s3e.prefetch.Ahead.Change;
import io.s3e.prefetch.VectorPlanner;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One call of {@link S3EInputStream#readVectored}: ranges are joined into groups ({@link
 * VectorGroup}), and the GETs of groups are started in order of offset as far as there is room. A
 * group that finds none waits until another is over, unless less than {@value
 * #LEAST_UNDER_WAY_BYTES} bytes are under way: long groups that all wait for memory at once take it
 * from each other a block at a time, before it is read.
 *
 * <p>The ranges of a group follow each other ({@link PendingRange}); none holds a thread while it
 * waits for a block. A range that finds its block absent asks for the rest of its group, so that
 * small ranges close together cost no more GETs than a scan of them. A range that finds no room for
 * its blocks waits for memory like any reader, on a thread that may, so the ranges may be larger
 * than the memory budget.
 *
 * <p>When the last range of a group is over and one of them was given up, the group's GET is
 * cancelled unless somebody else wants it.
 */
final class VectoredRead {
  private static final Logger LOG = LoggerFactory.getLogger(VectoredRead.class);

  private static final String REFUSED = "vectored read refused: the engine is closed";

  /** So much is read at once whether there is room or not: two of the longest lent GETs. */
  private static final long LEAST_UNDER_WAY_BYTES = 8 << 20;

  private final S3EInputStream stream;
  private final IntFunction<ByteBuffer> allocate;
  private final Consumer<ByteBuffer> release;
  private final AtomicBoolean releaseFailed = new AtomicBoolean();
  private final List<VectorGroup> groups;
  private final List<PendingRange> ranges;
  private final AtomicInteger groupsLeft;

  /** Bytes of the groups under way. */
  private final AtomicLong underWay = new AtomicLong();

  /** Calls of {@link #beginGroups} that have not had their effect. */
  private final AtomicInteger beginning = new AtomicInteger();

  /** The first group that has not begun. Only the thread that works off {@link #beginning}. */
  private int next;

  /** No group begins any more. */
  private volatile boolean ended;

  private final AtomicBoolean refused = new AtomicBoolean();

  /** Whether one of the ranges has had to wait for a block. */
  private final AtomicBoolean stalled = new AtomicBoolean();

  private final Pieces pieces;

  /** Moved by every block that is copied for one of the ranges. */
  private final Patience patience;

  /** Fails when the patience may be over, unless the read is. */
  private volatile CompletableFuture<Void> timer = new CompletableFuture<>();

  /** One range after the other: reads that wait long leave threads to those that come later. */
  private final Executor waiting;

  private VectoredRead(
      S3EInputStream stream,
      List<ByteRange> wanted,
      List<VectorPlanner.Group> planned,
      IntFunction<ByteBuffer> allocate,
      Consumer<ByteBuffer> release) {
    this.stream = stream;
    this.allocate = allocate;
    this.release = release;
    this.groupsLeft = new AtomicInteger(planned.size());
    this.pieces =
        Pieces.ofVectored(planned.stream().mapToLong(group -> group.span().length()).sum());
    this.patience = new Patience(stream.source().settings().readTimeout());
    this.waiting = new BoundedExecutor(stream.source().waiting(), 1);
    PendingRange[] inOrderOfCall = new PendingRange[wanted.size()];
    VectorGroup[] inOrder = new VectorGroup[planned.size()];
    long nextRange = Long.MAX_VALUE;
    for (int i = planned.size() - 1; i >= 0; i--) {
      VectorPlanner.Group group = planned.get(i);
      PendingRange[] members = new PendingRange[group.members().size()];
      for (int j = members.length - 1; j >= 0; j--) {
        int index = group.members().get(j);
        ByteRange range = wanted.get(index);
        members[j] = new PendingRange(range, group.span().end(), nextRange, this);
        inOrderOfCall[index] = members[j];
        nextRange = range.isEmpty() ? nextRange : range.start();
      }
      inOrder[i] = new VectorGroup(group.span(), List.of(members));
    }
    this.groups = List.of(inOrder);
    this.ranges = List.of(inOrderOfCall);
  }

  /**
   * Checks and groups the ranges; starts nothing.
   *
   * @param over hears of the read when all of its ranges are over; never, if there are none
   */
  static VectoredRead plan(
      S3EInputStream stream,
      List<ByteRange> ranges,
      IntFunction<ByteBuffer> allocate,
      Consumer<ByteBuffer> release,
      Consumer<VectoredRead> over)
      throws IOException {
    for (ByteRange range : ranges) {
      if (range.end() > stream.size()) {
        throw stream.failures().endOfObject(range.start(), range.length());
      }
    }
    StreamSettings settings = stream.source().settings();
    List<VectorPlanner.Group> groups =
        VectorPlanner.plan(
            ranges,
            stream.reader().handle().layout().blockSize(),
            VectorPlanner.MAX_GAP_BYTES,
            VectorPlanner.MAX_OVER_READ,
            settings.requestBytes());
    VectoredRead read = new VectoredRead(stream, ranges, groups, allocate, release);
    for (VectorGroup group : read.groups) {
      group.connect(read::work, () -> read.groupOver(group, over));
    }
    return read;
  }

  /**
   * Starts the GETs and the copying.
   *
   * @return a future for each range, in the order in which they were given
   */
  List<CompletableFuture<ByteBuffer>> start() throws IOException {
    BlockReader reader = stream.reader();
    Change ahead = groups.isEmpty() ? Change.NONE : reader.pump().onVectored(inOrder(), spans());
    beginGroups();
    if (refused.get()) {
      throw new IOException(REFUSED);
    }
    // Behind what was asked for.
    reader.pump().start(ahead, null);
    if (!groups.isEmpty()) {
      watch();
    }
    reader.handle().listener().onVectoredRead(ranges.size(), groups.size());
    return ranges.stream().map(PendingRange::result).toList();
  }

  private List<ByteRange> inOrder() {
    return groups.stream().flatMap(VectorGroup::ranges).toList();
  }

  private List<ByteRange> spans() {
    return groups.stream().map(VectorGroup::span).toList();
  }

  /** A range waits for {@code block}: the first one that does tells the planner. */
  void waitsFor(Block block) {
    if (!block.isReady() && stalled.compareAndSet(false, true)) {
      stream.reader().pump().onVectoredStall(block);
    }
  }

  /** Begins groups as far as there is room. Threads that come meanwhile leave that to the first. */
  private void beginGroups() {
    int calls = 1;
    if (beginning.getAndAdd(calls) > 0) {
      return;
    }
    while (calls > 0) {
      while (!ended && next < groups.size() && mayBegin(groups.get(next))) {
        next++;
      }
      calls = beginning.addAndGet(-calls);
    }
  }

  /** False if the group has to wait for its turn. */
  private boolean mayBegin(VectorGroup group) {
    if (group.isOver()) {
      return true;
    }
    boolean hasRoom = stream.reader().announce(group.span(), pieces);
    if (!hasRoom && underWay.get() >= LEAST_UNDER_WAY_BYTES) {
      return false;
    }
    underWay.addAndGet(bytes(group));
    if (!group.begin(this::work)) {
      // Given up meanwhile.
      underWay.addAndGet(-bytes(group));
      stream.reader().pump().forget(group.span());
    }
    return true;
  }

  /** What a group fetches, but for the rest of its last block. */
  private long bytes(VectorGroup group) {
    return Math.max(group.span().length(), stream.reader().handle().layout().blockSize());
  }

  /** Ends the ranges when the patience is over; looks again later if it has been moved. */
  private void watch() {
    CompletableFuture<Void> again = new CompletableFuture<>();
    timer = again;
    if (groupsLeft.get() == 0) {
      // Over meanwhile, by a thread that has not seen this timer.
      return;
    }
    var unused =
        again
            .orTimeout(Math.max(1, patience.leftNanos()), TimeUnit.NANOSECONDS)
            .exceptionally(
                passed -> {
                  if (patience.isOver()) {
                    // Not here: releasing is the application's code, and the timer is the JVM's.
                    execute(stream.source().copying(), this::late);
                  } else {
                    watch();
                  }
                  return null;
                });
  }

  /** Lets a range get on, on a thread of the engine. */
  void work(PendingRange range, RangeFilling.Caller caller) {
    execute(
        caller == RangeFilling.Caller.MAY_WAIT ? waiting : stream.source().copying(),
        () -> range.work(caller));
  }

  private void execute(Executor executor, Runnable task) {
    try {
      executor.execute(task);
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      // The engine ends, or the system has no thread to give. Each range that ends lets the next
      // begin, which is refused too: once for all of them.
      if (refused.compareAndSet(false, true)) {
        end(REFUSED);
      }
    }
  }

  private void work(PendingRange range) {
    work(range, RangeFilling.Caller.MUST_NOT_WAIT);
  }

  private void late() {
    ended = true;
    ranges.forEach(PendingRange::late);
  }

  /** Gives up the ranges that are not over. */
  void end(String why) {
    ended = true;
    ranges.forEach(range -> range.end(why));
  }

  boolean isStreamOpen() {
    return stream.isOpen();
  }

  private void groupOver(VectorGroup group, Consumer<VectoredRead> over) {
    boolean hadBegun = group.end();
    if (!group.isDelivered()) {
      stream.reader().pump().forget(group.span());
    }
    if (groupsLeft.decrementAndGet() == 0) {
      timer.complete(null);
      over.accept(this);
    } else if (hadBegun) {
      underWay.addAndGet(-bytes(group));
      beginGroups();
    }
  }

  /**
   * Allocates for a range.
   *
   * @param fetchEnd where the range's group ends
   * @param nextRange where the next range starts
   */
  RangeFilling filling(ByteRange range, long fetchEnd, long nextRange) {
    ByteBuffer buffer = allocate.apply(Math.toIntExact(range.length()));
    return new RangeFilling(stream, range, fetchEnd, nextRange, pieces, buffer, patience);
  }

  /** The error of a range that had no turn before the deadline. */
  IOException late(ByteRange range) {
    return stream
        .failures()
        .describe(
            new SocketTimeoutException("its turn did not come before its deadline"),
            range.start(),
            range.length());
  }

  /** Gives a buffer back to the application, whose errors must not keep other ranges waiting. */
  @SuppressWarnings("IllegalCatch")
  void giveBack(ByteBuffer buffer) {
    try {
      release.accept(buffer);
    } catch (Throwable e) {
      if (releaseFailed.compareAndSet(false, true)) {
        LOG.warn("Vectored read of {}: the caller's release failed and keeps a buffer", stream, e);
      }
    }
  }

  @Override
  public String toString() {
    return "Vectored read of " + stream;
  }
}
