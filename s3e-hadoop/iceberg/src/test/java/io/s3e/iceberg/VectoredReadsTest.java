// SPDX-License-Identifier: Apache-2.0
package io.s3e.iceberg;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.testing.Fault;
import io.s3e.testing.Slow;
import io.s3e.testing.StoredContent;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import org.apache.iceberg.exceptions.NotFoundException;
import org.apache.iceberg.io.FileRange;
import org.apache.iceberg.io.RangeReadable;
import org.apache.iceberg.io.SeekableInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ranges that are asked for together. Iceberg has them from 1.11 on. */
@Tag("iceberg-1.11")
class VectoredReadsTest {
  private static final int SIZE = 32 << 20;
  private static final int LENGTH = 300_000;
  private static final String LOCATION = HostileStore.location("data/file");

  private HostileStore store;
  private StoredContent content;

  @BeforeEach
  void open() throws IOException {
    store = new HostileStore();
    content = store.put("data/file", SIZE, 5);
  }

  @AfterEach
  void close() throws IOException {
    store.close();
  }

  private static List<FileRange> ranges() throws Exception {
    List<FileRange> ranges = new ArrayList<>();
    // Backwards, and far from each other.
    for (int at = SIZE - LENGTH; at > 0; at -= 4 << 20) {
      ranges.add(new FileRange(new CompletableFuture<>(), at, LENGTH));
    }
    return ranges;
  }

  private void assertArrive(List<FileRange> ranges) throws Exception {
    for (FileRange range : ranges) {
      ByteBuffer buffer = range.byteBuffer().get(30, TimeUnit.SECONDS);
      byte[] expected = new byte[range.length()];
      content.copy(range.offset(), expected, 0, expected.length);
      byte[] bytes = new byte[buffer.remaining()];
      buffer.get(bytes);
      assertThat(bytes).isEqualTo(expected);
    }
  }

  /** The store answers none before it has been asked for several. */
  @Slow
  @ParameterizedTest
  @ValueSource(strings = {"auto", "s3fileio"})
  void noneWaitsForAnother(String client) throws Exception {
    AtomicInteger waiting = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    store.server.decide(
        request -> {
          most.accumulateAndGet(waiting.incrementAndGet(), Math::max);
          return Fault.delay(Duration.ofMillis(300)).and(reply -> waiting.decrementAndGet());
        });
    try (S3EFileIO io = store.open(new S3EFileIO(), "s3e.client", client);
        SeekableInputStream in = io.newInputFile(LOCATION, SIZE).newStream()) {
      List<FileRange> ranges = ranges();
      long start = System.nanoTime();
      ((RangeReadable) in).readVectored(ranges, ByteBuffer::allocate);
      assertArrive(ranges);
      Duration took = Duration.ofNanos(System.nanoTime() - start);
      assertThat(store.server.gets()).hasSizeGreaterThanOrEqualTo(ranges.size());
      assertThat(took)
          .as(ranges.size() + " ranges one after the other would take longer")
          .isLessThan(Duration.ofMillis(300L * ranges.size()));
    }
  }

  @Test
  void buffersAreTheReadersOwn() throws Exception {
    List<ByteBuffer> given = new ArrayList<>();
    IntFunction<ByteBuffer> allocate =
        length -> {
          synchronized (given) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(length);
            given.add(buffer);
            return buffer;
          }
        };
    try (S3EFileIO io = store.open(new S3EFileIO());
        SeekableInputStream in = io.newInputFile(LOCATION, SIZE).newStream()) {
      List<FileRange> ranges = ranges();
      ((RangeReadable) in).readVectored(ranges, allocate);
      assertArrive(ranges);
      assertThat(given).hasSize(ranges.size());
    }
  }

  /** As by a reader that needs no more, or has its bytes from elsewhere. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void rangesThatTheReaderEndsEndTheirGets(boolean isCancelled) throws Exception {
    store.server.always(Fault.stallAtOnce());
    try (S3EFileIO io = store.open(new S3EFileIO());
        SeekableInputStream in = io.newInputFile(LOCATION, SIZE).newStream()) {
      List<FileRange> ranges = ranges();
      ((RangeReadable) in).readVectored(ranges, ByteBuffer::allocate);
      awaitTrue("all GETs hang", () -> store.server.gets().size() >= ranges.size());
      for (FileRange range : ranges) {
        boolean isEnded =
            isCancelled
                ? range.byteBuffer().cancel(true)
                : range.byteBuffer().complete(ByteBuffer.allocate(LENGTH));
        assertThat(isEnded).isTrue();
      }
      awaitTrue("no GET is left", () -> store.server.openConnections() == 0);
    }
  }

  @Test
  void rangesBehindTheLengthThatWasToldAreReadByAStreamsFirstCall() throws Exception {
    try (S3EFileIO io = store.open(new S3EFileIO());
        SeekableInputStream in = io.newInputFile(LOCATION, SIZE / 2).newStream()) {
      List<FileRange> ranges = ranges();
      ((RangeReadable) in).readVectored(ranges, ByteBuffer::allocate);
      assertArrive(ranges);
    }
  }

  @Test
  void aRangeBehindTheEndFailsBeforeAnyIsAskedFor() throws Exception {
    try (S3EFileIO io = store.open(new S3EFileIO());
        SeekableInputStream in = io.newInputFile(LOCATION, SIZE).newStream()) {
      List<FileRange> ranges = ranges();
      ranges.add(new FileRange(new CompletableFuture<>(), SIZE - 10, 11));
      assertThatThrownBy(() -> ((RangeReadable) in).readVectored(ranges, ByteBuffer::allocate))
          .isInstanceOf(EOFException.class)
          .hasMessageContaining(LOCATION);
      assertThat(store.server.gets()).isEmpty();
    }
  }

  @Test
  void rangesOfAMissingFileFailAsSuch() throws Exception {
    String gone = HostileStore.location("data/gone");
    try (S3EFileIO io = store.open(new S3EFileIO());
        SeekableInputStream in = io.newInputFile(gone, SIZE).newStream()) {
      assertThatThrownBy(() -> ((RangeReadable) in).readFully(SIZE - 1, new byte[2]))
          .as("behind the length that was told")
          .isInstanceOf(NotFoundException.class)
          .hasMessageContaining(gone);
      List<FileRange> ranges = ranges();
      ((RangeReadable) in).readVectored(ranges, ByteBuffer::allocate);
      for (FileRange range : ranges) {
        assertThatThrownBy(() -> range.byteBuffer().get(30, TimeUnit.SECONDS))
            .hasCauseInstanceOf(NotFoundException.class)
            .hasMessageContaining(gone);
      }
    }
  }
}
