package io.s3e.stream;

import io.s3e.block.ByteRange;
import io.s3e.fetch.Patience;
import io.s3e.prefetch.VectorPlanner;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One call of {@link S3EInputStream#readVectored}: ranges are joined into groups, and the GETs of
 * all groups are started as far as there is room. The ranges of a group follow each other ({@link
 * PendingRange}); none holds a thread while it waits for a block. A range that finds no room for
 * its blocks waits for memory like any reader, on a thread that may, so the ranges may be larger
 * than the memory budget.
 *
 * <p>When the last range of a group is over and one of them was given up, the group's GET is
 * cancelled unless somebody else wants it.
 */
final class VectoredRead {
  private static final Logger LOG = LoggerFactory.getLogger(VectoredRead.class);

  private static final String REFUSED = "vectored read refused: the engine is closed";

  /** Bytes fetched for nothing, as a share of the bytes wanted. */
  private static final double MAX_OVER_READ = 0.5;

  private final S3EInputStream stream;
  private final IntFunction<ByteBuffer> allocate;
  private final Consumer<ByteBuffer> release;
  private final AtomicBoolean releaseFailed = new AtomicBoolean();
  private final List<VectorPlanner.Group> groups;
  private final List<PendingRange> ranges;
  private final AtomicInteger groupsLeft;
  private final AtomicBoolean refused = new AtomicBoolean();
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
      List<VectorPlanner.Group> groups,
      IntFunction<ByteBuffer> allocate,
      Consumer<ByteBuffer> release) {
    this.stream = stream;
    this.allocate = allocate;
    this.release = release;
    this.groups = groups;
    this.groupsLeft = new AtomicInteger(groups.size());
    this.pieces =
        Pieces.ofVectored(groups.stream().mapToLong(group -> group.span().length()).sum());
    this.patience = new Patience(stream.source().settings().readTimeout());
    this.waiting = new BoundedExecutor(stream.source().waiting(), 1);
    this.ranges = new ArrayList<>(wanted.size());
    for (ByteRange range : wanted) {
      ranges.add(new PendingRange(range, this));
    }
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
            settings.coalesceGapBytes(),
            MAX_OVER_READ,
            settings.requestBytes());
    VectoredRead read = new VectoredRead(stream, ranges, groups, allocate, release);
    for (VectorPlanner.Group group : groups) {
      List<CompletableFuture<PendingRange.End>> ends =
          group.members().stream().map(member -> read.ranges.get(member).over()).toList();
      for (int i = 1; i < ends.size(); i++) {
        PendingRange next = read.ranges.get(group.members().get(i));
        var unused =
            ends.get(i - 1).thenRun(() -> read.work(next, RangeFilling.Caller.MUST_NOT_WAIT));
      }
      var unused =
          CompletableFuture.allOf(ends.toArray(CompletableFuture<?>[]::new))
              .thenRun(() -> read.groupOver(group, ends, over));
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
    for (VectorPlanner.Group group : groups) {
      reader.announce(group.span(), pieces);
    }
    groups.forEach(group -> reader.readahead().onRange(group.span()));
    try {
      for (VectorPlanner.Group group : groups) {
        PendingRange first = ranges.get(group.members().get(0));
        stream.source().copying().execute(() -> first.work(RangeFilling.Caller.MUST_NOT_WAIT));
      }
    } catch (RejectedExecutionException e) {
      end(REFUSED);
      throw new IOException(REFUSED, e);
    }
    if (!groups.isEmpty()) {
      watch();
    }
    reader.handle().listener().onVectoredRead(ranges.size(), groups.size());
    return ranges.stream().map(PendingRange::result).toList();
  }

  /** Ends the ranges when the patience is over; looks again later if it has been moved. */
  private void watch() {
    CompletableFuture<Void> next = new CompletableFuture<>();
    timer = next;
    if (groupsLeft.get() == 0) {
      // Over meanwhile, by a thread that has not seen this timer.
      return;
    }
    var unused =
        next.orTimeout(Math.max(1, patience.leftNanos()), TimeUnit.NANOSECONDS)
            .exceptionally(
                passed -> {
                  if (patience.isOver()) {
                    // Not here: releasing is the application's code, and the timer is the JVM's.
                    execute(stream.source().copying(), () -> ranges.forEach(PendingRange::late));
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

  /** Gives up the ranges that are not over. */
  void end(String why) {
    ranges.forEach(range -> range.end(why));
  }

  boolean isStreamOpen() {
    return stream.isOpen();
  }

  private void groupOver(
      VectorPlanner.Group group,
      List<CompletableFuture<PendingRange.End>> ends,
      Consumer<VectoredRead> over) {
    if (ends.stream().anyMatch(end -> end.join() == PendingRange.End.NOT_DELIVERED)) {
      stream.reader().readahead().forget(group.span());
    }
    if (groupsLeft.decrementAndGet() == 0) {
      timer.complete(null);
      over.accept(this);
    }
  }

  /** Allocates for a range. */
  RangeFilling filling(ByteRange range) {
    ByteBuffer buffer = allocate.apply(Math.toIntExact(range.length()));
    return new RangeFilling(stream, range, pieces, buffer, patience);
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
