package io.s3e.hadoop.stream;

import io.s3e.block.ByteRange;
import io.s3e.hadoop.client.FailedRead;
import io.s3e.hadoop.client.FailureTranslation;
import io.s3e.hadoop.stats.ReadStatistics;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.VectoredReadUtils;
import org.jspecify.annotations.Nullable;

/** Hadoop's vectored read over the core's: ranges, futures, statistics and exceptions. */
final class VectoredReads {
  private VectoredReads() {}

  /**
   * Sets the future of every range, or throws and sets none.
   *
   * @throws java.io.EOFException if a range ends past the file
   * @throws IllegalArgumentException if ranges overlap
   */
  static void submit(
      OpenStream open,
      ReadStatistics statistics,
      List<? extends FileRange> ranges,
      IntFunction<ByteBuffer> allocate,
      Consumer<ByteBuffer> release)
      throws IOException {
    StreamSource source = open.source();
    List<? extends FileRange> sorted =
        VectoredReadUtils.validateAndSortRanges(ranges, Optional.of(source.length()));
    List<ByteRange> wanted = new ArrayList<>(sorted.size());
    long bytes = 0;
    for (FileRange range : sorted) {
      wanted.add(ByteRange.ofLength(range.getOffset(), range.getLength()));
      bytes += range.getLength();
    }
    List<CompletableFuture<ByteBuffer>> futures =
        open.reading().readVectored(wanted, length -> sized(allocate, length), release);
    for (int i = 0; i < futures.size(); i++) {
      ByteRange range = wanted.get(i);
      sorted
          .get(i)
          .setData(
              futures
                  .get(i)
                  .handle(
                      (buffer, failure) -> completed(source, statistics, range, buffer, failure)));
    }
    statistics.vectoredStarted(sorted.size(), sorted.size(), bytes);
  }

  /** Pools give what they have: a buffer may be longer than was asked. */
  private static ByteBuffer sized(IntFunction<ByteBuffer> allocate, int length) {
    ByteBuffer buffer = allocate.apply(length);
    if (buffer.remaining() > length) {
      buffer.limit(buffer.position() + length);
    }
    return buffer;
  }

  private static ByteBuffer completed(
      StreamSource source,
      ReadStatistics statistics,
      ByteRange range,
      @Nullable ByteBuffer buffer,
      @Nullable Throwable failure) {
    if (failure == null && buffer != null) {
      statistics.vectoredCompleted(range.length());
      return buffer;
    }
    Throwable cause = failure;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    if (cause instanceof IOException io) {
      FailedRead read =
          new FailedRead(
              "readVectored", source.path(), range.start(), range.length(), source.length());
      throw new CompletionException(FailureTranslation.translate(read, io));
    }
    throw new CompletionException(cause);
  }
}
