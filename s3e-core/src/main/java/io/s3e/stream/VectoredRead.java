package io.s3e.stream;

import io.s3e.block.ByteRange;
import io.s3e.prefetch.VectorPlanner;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.IntFunction;

/**
 * One call of {@link S3EInputStream#readVectored}: ranges are joined into groups, the GETs of all
 * groups are started as far as there is room, then one task per group waits for its blocks and
 * copies them out. A task whose blocks found no room fetches them like any reader when its turn
 * comes, so the ranges may be larger than the memory budget.
 *
 * <p>A range's future is completed by its group's task alone, exactly once.
 */
final class VectoredRead {
  /** Bytes fetched for nothing, as a share of the bytes wanted. */
  private static final double MAX_OVER_READ = 0.5;

  private final S3EInputStream stream;
  private final int generation;
  private final List<ByteRange> ranges;
  private final IntFunction<ByteBuffer> allocate;
  private final Consumer<ByteBuffer> release;
  private final List<CompletableFuture<ByteBuffer>> results;

  private VectoredRead(
      S3EInputStream stream,
      List<ByteRange> ranges,
      IntFunction<ByteBuffer> allocate,
      Consumer<ByteBuffer> release) {
    this.stream = stream;
    this.generation = stream.generation();
    this.ranges = List.copyOf(ranges);
    this.allocate = allocate;
    this.release = release;
    this.results = new ArrayList<>(ranges.size());
    for (int i = 0; i < ranges.size(); i++) {
      results.add(new CompletableFuture<>());
    }
  }

  static List<CompletableFuture<ByteBuffer>> submit(
      S3EInputStream stream,
      List<ByteRange> ranges,
      IntFunction<ByteBuffer> allocate,
      Consumer<ByteBuffer> release)
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
    VectoredRead read = new VectoredRead(stream, ranges, allocate, release);
    read.start(groups);
    stream.reader().handle().listener().onVectoredRead(ranges.size(), groups.size());
    return read.results;
  }

  private void start(List<VectorPlanner.Group> groups) throws IOException {
    for (VectorPlanner.Group group : groups) {
      stream.reader().announce(group.span());
    }
    int submitted = 0;
    try {
      for (VectorPlanner.Group group : groups) {
        stream.source().vectored().execute(() -> run(group));
        submitted++;
      }
    } catch (RejectedExecutionException e) {
      IOException refused = new IOException("vectored read refused: the engine is closed", e);
      for (VectorPlanner.Group group : groups.subList(submitted, groups.size())) {
        group.members().forEach(member -> results.get(member).completeExceptionally(refused));
      }
      throw refused;
    }
  }

  private void run(VectorPlanner.Group group) {
    for (int member : group.members()) {
      readOne(ranges.get(member), results.get(member));
    }
  }

  // Whatever goes wrong, the application's own allocator included, belongs to the future: a range
  // that never completes would hang its reader.
  @SuppressWarnings("IllegalCatch")
  private void readOne(ByteRange range, CompletableFuture<ByteBuffer> result) {
    ByteBuffer buffer = null;
    try {
      requireCurrent();
      int length = Math.toIntExact(range.length());
      buffer = allocate.apply(length);
      ByteBuffer target = buffer.duplicate();
      target.limit(target.position() + length);
      stream.readFullyAt(range.start(), target);
      requireCurrent();
      buffer.position(0);
      buffer.limit(target.position());
      result.complete(buffer);
    } catch (Throwable e) {
      if (buffer != null) {
        release.accept(buffer);
      }
      result.completeExceptionally(e);
    }
  }

  private void requireCurrent() throws IOException {
    if (!stream.isOpen()) {
      throw new IOException("Stream is closed! Vectored read of " + stream + " given up");
    }
    if (stream.generation() != generation) {
      throw new IOException("Vectored read of " + stream + " given up by unbuffer()");
    }
  }
}
