package io.s3e.stream;

import io.s3e.block.ByteRange;
import io.s3e.prefetch.VectorPlanner;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One call of {@link S3EInputStream#readVectored}: ranges are joined into groups, the GETs of all
 * groups are started as far as there is room, then one task per group waits for its blocks and
 * copies them out, range by range ({@link PendingRange}). A task whose blocks found no room fetches
 * them like any reader when its turn comes, so the ranges may be larger than the memory budget.
 *
 * <p>When the last range of a group is over and one of them was given up, the group's GET is
 * cancelled unless somebody else wants it.
 */
final class VectoredRead {
  private static final Logger LOG = LoggerFactory.getLogger(VectoredRead.class);

  /** Bytes fetched for nothing, as a share of the bytes wanted. */
  private static final double MAX_OVER_READ = 0.5;

  private final S3EInputStream stream;
  private final IntFunction<ByteBuffer> allocate;
  private final Consumer<ByteBuffer> release;
  private final AtomicBoolean releaseFailed = new AtomicBoolean();
  private final List<VectorPlanner.Group> groups;
  private final List<PendingRange> ranges;
  private final AtomicInteger groupsLeft;

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
        throw stream.endOfObject(range.start(), range.length());
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
    Pieces pieces = Pieces.ofGroups(groups.size());
    for (VectorPlanner.Group group : groups) {
      stream.reader().announce(group.span(), pieces);
    }
    try {
      for (VectorPlanner.Group group : groups) {
        stream
            .source()
            .vectored()
            .execute(() -> group.members().forEach(member -> ranges.get(member).read()));
      }
    } catch (RejectedExecutionException e) {
      String refused = "vectored read refused: the engine is closed";
      end(refused);
      throw new IOException(refused, e);
    }
    stream.reader().handle().listener().onVectoredRead(ranges.size(), groups.size());
    return ranges.stream().map(PendingRange::result).toList();
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
      stream.reader().forget(group.span());
    }
    if (groupsLeft.decrementAndGet() == 0) {
      over.accept(this);
    }
  }

  /** Allocates for a range and fills what was allocated. */
  void fill(ByteRange range, PendingRange owner) throws IOException {
    int length = Math.toIntExact(range.length());
    ByteBuffer buffer = allocate.apply(length);
    owner.holds(buffer);
    ByteBuffer target = buffer.duplicate();
    target.limit(target.position() + length);
    stream.readFullyAt(range.start(), target);
    buffer.position(0);
    buffer.limit(target.position());
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
