// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import io.s3e.block.ByteRange;
import io.s3e.fetch.FetchTimer;
import io.s3e.fetch.Patience;
import io.s3e.jvm.Background;
import io.s3e.memory.Block;
import io.s3e.prefetch.Ahead.Change;
import io.s3e.prefetch.VectorPlanner;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One call of {@link S3EInputStream#readVectored}: ranges are joined into groups ({@link
 * VectorGroup}), and the GETs of groups are started in order of offset as far as there is room. A
 * group that finds none waits until another is over, unless less than {@value
 * #LEAST_UNDER_WAY_BYTES} bytes are under way: long groups that all wait for memory at once take it
 * from each other a block at a time, before it is read.
 *
 * <p>None of the ranges holds a thread while it waits for a block. A range that finds its block
 * absent asks for the rest of its group, so that small ranges close together cost no more GETs than
 * a scan of them. A range that finds no room for its blocks waits for memory like any reader, on a
 * thread that may, so the ranges may be larger than the memory budget.
 *
 * <p>When the last range of a group is over and one of them was given up, the group's GET is
 * cancelled unless somebody else wants it.
 */
final class VectoredRead implements FetchTimer.Watched {
  private static final Logger LOG = LoggerFactory.getLogger(VectoredRead.class);

  /** So much is read at once whether there is room or not: two of the longest lent GETs. */
  private static final long LEAST_UNDER_WAY_BYTES = 8 << 20;

  /** Longer than a reader waits before what is late or stuck gives way: twenty ms and a look. */
  private static final Duration VISIT = Duration.ofMillis(80);

  private final BlockReader reader;
  private final Consumer<ByteBuffer> release;
  private final Set<VectoredRead> all;
  private final AtomicBoolean releaseFailed = new AtomicBoolean();
  private final List<VectorGroup> groups;

  /** In order of the call. */
  private final List<CompletableFuture<ByteBuffer>> results;

  private final AtomicInteger groupsLeft;

  /** Bytes of the groups under way; means nothing once no group begins any more. */
  private final AtomicLong underWay = new AtomicLong();

  /** Calls of {@link #beginGroups} that have not had their effect. */
  private final AtomicInteger beginning = new AtomicInteger();

  /** The first group that has not begun. Only the thread that works off {@link #beginning}. */
  private int next;

  /** No group begins any more. */
  private volatile boolean ended;

  /** Whether one of the ranges has had to wait for a block. */
  private final AtomicBoolean stalled = new AtomicBoolean();

  private final Pieces pieces;
  private final Patience patience;

  /** Whether a thread is about to end the ranges, since the patience was over. */
  private volatile boolean isLate;

  /** Checks and groups the ranges; starts nothing. Leaves the stream's reads when all are over. */
  VectoredRead(
      BlockReader reader,
      List<ByteRange> wanted,
      IntFunction<ByteBuffer> allocate,
      Consumer<ByteBuffer> release,
      Set<VectoredRead> all)
      throws IOException {
    for (ByteRange range : wanted) {
      if (range.end() > reader.handle.size()) {
        throw reader.failures().endOfObject(range.start(), range.length());
      }
      if (range.length() > Integer.MAX_VALUE) {
        throw new IllegalArgumentException(range + " is longer than a buffer can be");
      }
    }
    int block = reader.handle.layout.blockSize();
    int request = reader.fetcher.tenant.config.requestBytes();
    List<VectorPlanner.Group> planned = VectorPlanner.plan(wanted, block, request);
    this.reader = reader;
    this.release = release;
    this.all = all;
    this.groupsLeft = new AtomicInteger(planned.size());
    this.pieces =
        Pieces.ofVectored(planned.stream().mapToLong(group -> group.span().length()).sum());
    this.patience = new Patience(reader.fetcher.tenant.config.readTimeout(), VISIT);
    // One range after the other: reads that wait long leave threads to those that come later.
    Executor waits = new BoundedExecutor(reader.source.waiting(), 1);
    VectorGroup.Call call =
        new VectorGroup.Call(
            reader, allocate, this::giveBack, this::waitsFor, pieces, patience, waits, this::over);
    this.results = wanted.stream().map(range -> new CompletableFuture<ByteBuffer>()).toList();
    VectorGroup[] inOrder = new VectorGroup[planned.size()];
    long nextRange = Long.MAX_VALUE;
    for (int i = planned.size() - 1; i >= 0; i--) {
      VectorPlanner.Group group = planned.get(i);
      VectorGroup.Member[] members = new VectorGroup.Member[group.members().size()];
      for (int j = members.length - 1; j >= 0; j--) {
        int index = group.members().get(j);
        ByteRange range = wanted.get(index);
        members[j] = new VectorGroup.Member(range, nextRange, results.get(index));
        nextRange = range.isEmpty() ? nextRange : range.start();
      }
      inOrder[i] = new VectorGroup(group.span(), List.of(members), call);
    }
    this.groups = List.of(inOrder);
  }

  /** Starts the GETs and the copying; a future for each range, in the order of the call. */
  List<CompletableFuture<ByteBuffer>> start() throws IOException {
    List<ByteRange> inOrder = groups.stream().flatMap(VectorGroup::ranges).toList();
    List<ByteRange> spans = groups.stream().map(group -> group.span).toList();
    try {
      Change ahead = groups.isEmpty() ? Change.NONE : reader.pump.onVectored(inOrder, spans);
      beginGroups();
      if (reader.fetcher.tenant.isClosed()) {
        throw new IOException(VectorGroup.REFUSED);
      }
      // Behind what was asked for.
      reader.pump.start(ahead, null);
    } catch (IOException | RuntimeException | Error e) {
      end(VectorGroup.REFUSED);
      // Nobody gets the futures, nor what has come by them.
      for (CompletableFuture<ByteBuffer> each : results) {
        var unused = each.thenAccept(this::giveBack);
      }
      throw e;
    }
    reader.fetcher.tenant.timer.watch(this);
    if (groupsLeft.get() == 0) {
      // Over meanwhile, by a thread that has not seen it watched.
      reader.fetcher.tenant.timer.forget(this);
    }
    reader.handle.listener.onVectoredRead(results.size(), groups.size());
    return results;
  }

  /** The first range that waits tells the planner. */
  private void waitsFor(Block block) {
    if (!block.isReady() && stalled.compareAndSet(false, true)) {
      reader.pump.onVectoredStall(block);
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
    ByteRange span = group.span;
    boolean isWanted = group.wants(span);
    // Where all ranges are there, nobody wants what lies between them.
    boolean isBegun =
        !isWanted
            || group.ranges().allMatch(reader::isThere)
            || reader.announce(span, pieces) > span.start();
    if (!isBegun && underWay.get() >= LEAST_UNDER_WAY_BYTES) {
      return false;
    }
    underWay.addAndGet(bytes(group));
    if (!group.begin()) {
      // Given up meanwhile, with all others.
      passOver(group);
    }
    return true;
  }

  /** What a group fetches, but for the rest of its last block. */
  private long bytes(VectorGroup group) {
    return Math.max(group.span.length(), reader.handle.layout.blockSize());
  }

  /** Ends the ranges when the patience is over. */
  @Override
  public void tick(long now, long lateNanos) {
    if (ended || isLate || !patience.isOverNow()) {
      return;
    }
    isLate = true;
    try {
      // Not on the timer: releasing is the application's code. Nor on a thread that copies: all of
      // these may stand in such code, which waits for the ranges that are late.
      reader.source.waiting().execute(this::late);
    } catch (OutOfMemoryError e) {
      // No thread: the next look may find one.
      isLate = false;
    } catch (RejectedExecutionException e) {
      end(VectorGroup.REFUSED);
    }
  }

  private void late() {
    if (patience.isOver()) {
      end(VectorGroup.LATE);
    }
    // Else a block has come meanwhile.
    isLate = false;
  }

  void end(String why) {
    ended = true;
    groups.forEach(group -> group.end(why));
    patience.end();
  }

  private void over(VectorGroup group) {
    try {
      passOver(group);
      underWay.addAndGet(-bytes(group));
      beginGroups();
    } catch (RuntimeException | Error e) {
      // Nobody else begins those that have had no turn; where all end, the others' ends go on.
      if (!ended) {
        end(VectorGroup.REFUSED);
        throw e;
      }
    } finally {
      if (groupsLeft.decrementAndGet() == 0) {
        reader.fetcher.tenant.timer.forget(this);
        all.remove(this);
      }
    }
  }

  /** Blocks between ranges came along. What is still to come may be for another read as well. */
  private void passOver(VectorGroup group) {
    Predicate<ByteRange> isWanted =
        run -> all.stream().flatMap(read -> read.groups.stream()).anyMatch(it -> it.wants(run));
    reader.pump.runs.passOver(group.span, group.isDelivered(), isWanted);
  }

  /** The application's errors must not keep other ranges waiting. */
  @SuppressWarnings("IllegalCatch")
  private void giveBack(ByteBuffer buffer) {
    try {
      release.accept(buffer);
    } catch (Throwable e) {
      if (releaseFailed.compareAndSet(false, true)) {
        String release = "Vectored read of {}: the caller's release failed and keeps a buffer";
        Background.log(() -> LOG.warn(release, reader.failures().object(), e));
      }
    }
  }
}
