// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import static io.s3e.stream.EngineFixture.BLOCK;
import static io.s3e.stream.EngineFixture.ETAG;
import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.OpenOptions;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.client.RequestFailure;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.testing.MemoryObjectClient.Answer;
import io.s3e.testing.Seed;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Vectored ranges that cannot get on keep no others waiting, and end in time. */
@Timeout(60)
class VectoredNeighbourTest {
  private static final OpenOptions RANDOM = OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM);
  private static final ObjectRef HANGING = new ObjectRef("bucket", "hanging");

  /** Some of which may be too late; as many as there are processors are not. */
  private static final int MOST_READS = 60;

  @RegisterExtension final EngineFixture s3e = EngineFixture.copying();

  @RegisterExtension
  final EngineFixture hasty =
      EngineFixture.copying(config -> config.readTimeout(Duration.ofMillis(300)));

  private static List<ByteRange> scattered(int ranges, int blocksApart) {
    List<ByteRange> all = new ArrayList<>();
    for (int i = 0; i < ranges; i++) {
      all.add(ByteRange.ofLength((long) i * blocksApart * BLOCK, 100));
    }
    return all;
  }

  @Test
  void aHangingObjectDelaysNoOther() throws Exception {
    byte[] content = s3e.put(100);
    s3e.client.put(HANGING, new byte[1000 * BLOCK], ETAG);
    s3e.client.faults(
        (request, number) ->
            request.object().equals(HANGING) ? Answer.GOOD.silentAfter(10) : Answer.GOOD);
    try (S3EInputStream hanging = s3e.engine.open(HANGING, RANDOM);
        S3EInputStream healthy = s3e.open(RANDOM)) {
      var stuck = hanging.readVectored(scattered(24, 40), ByteBuffer::allocate, buffer -> {});
      for (int i = 0; i < 20; i++) {
        ByteRange range = ByteRange.ofLength(i * 4L * BLOCK, 1000);
        ByteBuffer got =
            healthy
                .readVectored(List.of(range), ByteBuffer::allocate, buffer -> {})
                .get(0)
                .get(5, TimeUnit.SECONDS);
        assertThat(got.array())
            .isEqualTo(Arrays.copyOfRange(content, (int) range.start(), (int) range.end()));
      }
      assertThat(stuck).noneMatch(CompletableFuture::isDone);
    }
  }

  @Test
  void aDeadlineEndsRangesThatNoThreadWaitsFor() throws Exception {
    hasty.put(100);
    hasty.client.faults((request, number) -> Answer.GOOD.silentAfter(10));
    List<ByteBuffer> released = new ArrayList<>();
    try (S3EInputStream in = hasty.open(RANDOM)) {
      var futures =
          in.readVectored(
              List.of(ByteRange.ofLength(0, 100), ByteRange.ofLength(50L * BLOCK, 100)),
              ByteBuffer::allocate,
              buffer -> {
                synchronized (released) {
                  released.add(buffer);
                }
              });
      for (CompletableFuture<ByteBuffer> future : futures) {
        assertThatThrownBy(() -> future.get(20, TimeUnit.SECONDS))
            .isInstanceOf(ExecutionException.class)
            .hasMessageContaining("Reading 100 bytes at offset")
            .hasMessageContaining("s3://bucket/key");
      }
      synchronized (released) {
        assertThat(released).hasSize(2);
      }
    }
  }

  /**
   * As many reads as threads copy, in each of which that code waits for the ranges that hang: the
   * second ones of all.
   */
  @Test
  void aDeadlineEndsRangesThatTheApplicationsCodeWaitsForOnAllThreads() throws Exception {
    int threads = Runtime.getRuntime().availableProcessors();
    hasty.put(MOST_READS * 10);
    hasty.client.faults((request, number) -> Answer.GOOD.silentAfter(BLOCK + 10));
    Semaphore inside = new Semaphore(0);
    CountDownLatch isOver = new CountDownLatch(1);
    List<CompletableFuture<ByteBuffer>> hanging = new ArrayList<>();
    try (S3EInputStream in = hasty.open(RANDOM)) {
      for (long read = 0; hanging.size() < threads; read++) {
        ByteRange first = ByteRange.ofLength(10 * read * BLOCK, 1000);
        ByteRange second = ByteRange.ofLength(first.start() + BLOCK, 1000);
        hasty.client.hold();
        var futures = in.readVectored(List.of(first, second), ByteBuffer::allocate, buffer -> {});
        var entered =
            futures
                .get(0)
                .thenRun(
                    () -> {
                      inside.release();
                      awaitQuietly(isOver);
                    });
        hasty.client.open();
        awaitTrue(() -> inside.tryAcquire() || entered.isCompletedExceptionally());
        // Where the machine is busy, the deadline may pass before the first range has come.
        if (!entered.isCompletedExceptionally()) {
          hanging.add(futures.get(1));
        }
      }
      for (CompletableFuture<ByteBuffer> future : hanging) {
        assertThatThrownBy(() -> future.get(20, TimeUnit.SECONDS))
            .as("no interrupt")
            .hasCauseInstanceOf(SocketTimeoutException.class)
            .hasMessageContaining("deadline");
      }
    } finally {
      isOver.countDown();
    }
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** More than memory holds, in ranges of all sizes, with failures: by way of both pools. */
  @Test
  void rangesLargerThanMemoryAllCome() throws Exception {
    long seed = Seed.draw();
    SplittableRandom random = new SplittableRandom(seed);
    byte[] content = s3e.put(1500);
    s3e.client.faults(
        (request, number) ->
            number % 7 == 0
                ? Answer.GOOD.failingAfter(1000, RequestFailure.Kind.NETWORK)
                : Answer.GOOD.after(1));
    List<ByteRange> ranges = new ArrayList<>();
    for (long at = 0; at < content.length; ) {
      long length = Math.min(content.length - at, random.nextLong(40L * BLOCK));
      ranges.add(ByteRange.ofLength(at, length));
      at += length + random.nextLong(3L * BLOCK);
    }
    try (S3EInputStream in = s3e.open(RANDOM)) {
      var futures = in.readVectored(ranges, ByteBuffer::allocate, buffer -> {});
      for (int i = 0; i < ranges.size(); i++) {
        ByteRange range = ranges.get(i);
        ByteBuffer got = futures.get(i).get(30, TimeUnit.SECONDS);
        assertThat(got.equals(ByteBuffer.wrap(content, (int) range.start(), (int) range.length())))
            .as("range %s, seed %d", range, seed)
            .isTrue();
      }
    }
  }

  @Test
  void anEngineThatClosesEndsAllRanges() throws Exception {
    s3e.put(1000);
    s3e.client.faults((request, number) -> Answer.GOOD.silentAfter(10));
    S3EInputStream in = s3e.open(RANDOM);
    // More of them than threads; some close together, some without room.
    List<ByteRange> ranges = scattered(500, 2);
    var futures = in.readVectored(ranges, ByteBuffer::allocate, buffer -> {});
    s3e.engine.close();
    for (CompletableFuture<ByteBuffer> future : futures) {
      assertThatThrownBy(() -> future.get(20, TimeUnit.SECONDS))
          .isInstanceOf(ExecutionException.class);
    }
    in.close();
  }
}
