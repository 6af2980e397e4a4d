// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.stream;

import io.s3e.block.ByteRange;
import io.s3e.hadoop.client.FailedRead;
import io.s3e.hadoop.client.FailureTranslation;
import io.s3e.hadoop.stats.StreamStatistics;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.VectoredReadUtils;

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
      List<? extends FileRange> ranges,
      IntFunction<ByteBuffer> allocate,
      Consumer<ByteBuffer> release,
      Object stream)
      throws IOException {
    StreamSource source = open.source();
    StreamStatistics statistics = open.counting();
    List<? extends FileRange> sorted =
        VectoredReadUtils.validateAndSortRanges(ranges, Optional.of(open.length()));
    if (sorted.isEmpty()) {
      return;
    }
    List<ByteRange> wanted = new ArrayList<>(sorted.size());
    long bytes = 0;
    for (FileRange range : sorted) {
      wanted.add(ByteRange.ofLength(range.getOffset(), range.getLength()));
      bytes += range.getLength();
    }
    List<CompletableFuture<ByteBuffer>> futures =
        open.reading().readVectored(wanted, allocate, release);
    for (int i = 0; i < futures.size(); i++) {
      CompletableFuture<ByteBuffer> read = futures.get(i);
      // The application cancels what it was given, and the core has to hear of it.
      GivenRange given = new GivenRange(() -> read.cancel(true));
      ByteRange range = wanted.get(i);
      var unused =
          read.whenComplete(
              (buffer, failure) -> {
                if (failure != null) {
                  Throwable told = translated(source, range, failure);
                  given.end(() -> given.completeExceptionally(told));
                } else {
                  statistics.vectoredCompleted(range.length());
                  given.end(() -> complete(given, buffer, release));
                }
                // One that is forgotten is closed, and would end what somebody waits for.
                Reference.reachabilityFence(stream);
              });
      sorted.get(i).setData(given);
    }
    statistics.vectoredStarted(bytes);
  }

  private static void complete(GivenRange given, ByteBuffer buffer, Consumer<ByteBuffer> release) {
    if (!given.complete(buffer)) {
      release.accept(buffer);
    }
  }

  private static Throwable translated(StreamSource source, ByteRange range, Throwable failure) {
    FailedRead read =
        new FailedRead(
            "readVectored", source.path(), range.start(), range.length(), source.length());
    try {
      return failure instanceof IOException io ? FailureTranslation.translate(read, io) : failure;
    } catch (RuntimeException e) {
      // The future has to complete even without words.
      failure.addSuppressed(e);
      return failure;
    }
  }
}
