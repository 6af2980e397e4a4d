// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import static io.s3e.stream.EngineFixture.BLOCK;
import static io.s3e.stream.EngineFixture.REQUEST;
import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.OpenOptions;
import io.s3e.block.ByteRange;
import io.s3e.client.RequestFailure;
import io.s3e.metrics.StreamListener;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.testing.MemoryObjectClient.Answer;
import io.s3e.testing.Slow;
import io.s3e.testing.Threads;
import io.s3e.testing.Unsayable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.util.AbstractSet;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How pending vectored ranges end before their bytes have come. */
@Timeout(60)
class VectoredEndTest {
  private static final OpenOptions RANDOM = OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM);

  /** Far apart: one GET for each. */
  private static final List<ByteRange> RANGES =
      List.of(
          ByteRange.ofLength(10, 1000),
          ByteRange.ofLength(40L * BLOCK, 2 * BLOCK),
          ByteRange.ofLength(90L * BLOCK, 70));

  @RegisterExtension final EngineFixture s3e = EngineFixture.copying();

  @RegisterExtension final EngineFixture crowded = EngineFixture.crowded();

  private final AtomicInteger allocated = new AtomicInteger();
  private final ConcurrentLinkedQueue<ByteBuffer> released = new ConcurrentLinkedQueue<>();

  private ByteBuffer counted(int length) {
    allocated.incrementAndGet();
    return ByteBuffer.allocate(length);
  }

  private List<CompletableFuture<ByteBuffer>> submit(S3EInputStream in) throws Exception {
    return submit(in, released::add);
  }

  private List<CompletableFuture<ByteBuffer>> submit(
      S3EInputStream in, Consumer<ByteBuffer> release) throws Exception {
    return in.readVectored(RANGES, this::counted, release);
  }

  private static void end(S3EInputStream in, boolean close) throws IOException {
    if (close) {
      in.close();
    } else {
      in.unbuffer();
    }
  }

  private void storeIsSilent() {
    s3e.put(100);
    s3e.client.faults((request, number) -> Answer.GOOD.silentAfter(10));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void closeAndUnbufferEndWhatWaits(boolean close) throws Exception {
    storeIsSilent();
    S3EInputStream in = s3e.open(RANDOM);
    List<CompletableFuture<ByteBuffer>> futures = submit(in);
    awaitTrue("GETs under way", () -> allocated.get() == 3 && s3e.client.active() == 3);

    end(in, close);

    for (CompletableFuture<ByteBuffer> future : futures) {
      assertThatThrownBy(() -> future.get(5, TimeUnit.SECONDS))
          .isInstanceOf(ExecutionException.class)
          .cause()
          .isInstanceOf(InterruptedIOException.class)
          .hasMessageContaining(close ? "Stream is closed" : "unbuffer")
          .hasMessageContaining("s3://bucket/key");
    }
    assertThat(released).as("before their futures fail").hasSize(3);
    awaitTrue("GETs cancelled", () -> s3e.client.active() == 0);
    in.close();
  }

  /** A thread waits in vain for the encoding, which no GET tells. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void closeAndUnbufferEndWhatWaitsForAHead(boolean close) throws Exception {
    s3e.put(100);
    s3e.client.faults((request, number) -> s3e.encoded(request, "gzip"));
    S3EInputStream in = s3e.open(RANDOM);
    int heads = s3e.client.heads();
    s3e.client.headsFail(new RequestFailure(RequestFailure.Kind.SERVER, "HEAD", "injected", null));
    List<CompletableFuture<ByteBuffer>> futures = submit(in);
    awaitTrue("HEADs", () -> s3e.client.heads() > heads);

    end(in, close);

    for (CompletableFuture<ByteBuffer> future : futures) {
      assertThatThrownBy(() -> future.get(5, TimeUnit.SECONDS))
          .hasCauseInstanceOf(InterruptedIOException.class);
    }
    in.close();
  }

  /** A read that is never over would keep its stream, and what it has brought, for good. */
  @Test
  void anEmptyRangeAtTheObjectsEndIsOver() throws Exception {
    s3e.put(2);
    try (S3EInputStream in = s3e.open(RANDOM)) {
      WeakReference<ByteBuffer> brought = readToEnd(in);
      awaitTrue(
          "nobody keeps the buffer",
          () -> {
            System.gc();
            return brought.get() == null;
          });
    }
  }

  private static WeakReference<ByteBuffer> readToEnd(S3EInputStream in) throws Exception {
    long size = in.size();
    List<ByteRange> ranges = List.of(new ByteRange(0, 10), new ByteRange(size, size));
    var results = in.readVectored(ranges, ByteBuffer::allocate, buffer -> {});
    assertThat(results.get(1).get(30, TimeUnit.SECONDS).remaining()).isZero();
    return new WeakReference<>(results.get(0).get(30, TimeUnit.SECONDS));
  }

  /** The room of a range that ends is not for one that ends in a moment. */
  @Test
  void unbufferSendsNoGetForRangesThatHadNoTurn() throws Exception {
    int ranges = 60;
    List<ByteRange> far = new ArrayList<>();
    for (int i = 0; i < ranges; i++) {
      far.add(ByteRange.ofLength(2L * i * REQUEST, REQUEST));
    }
    crowded.put(ranges * 2 * REQUEST / BLOCK);
    crowded.client.faults((request, number) -> Answer.GOOD.silentAfter(10));
    try (S3EInputStream in = crowded.open(RANDOM)) {
      List<CompletableFuture<ByteBuffer>> futures =
          in.readVectored(far, this::counted, released::add);
      int begun = 16;
      awaitTrue("all that may be under way", () -> allocated.get() == begun);

      in.unbuffer();

      for (CompletableFuture<ByteBuffer> future : futures) {
        assertThatThrownBy(() -> future.get(20, TimeUnit.SECONDS))
            .hasCauseInstanceOf(InterruptedIOException.class);
      }
      assertThat(allocated).hasValue(begun);
      assertThat(crowded.client.gets())
          .allMatch(get -> get.range().start() < far.get(begun).start());
    }
  }

  /** Nobody but that code could end the ranges behind its own otherwise. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void closeAndUnbufferReachRangesThatTheApplicationsCodeWaitsFor(boolean close) throws Exception {
    s3e.put(100);
    s3e.client.faults((request, number) -> Answer.GOOD.silentAfter(BLOCK + 10));
    s3e.client.hold();
    S3EInputStream in = s3e.open(RANDOM);
    List<CompletableFuture<ByteBuffer>> futures =
        in.readVectored(
            List.of(ByteRange.ofLength(0, 1000), ByteRange.ofLength(BLOCK, 1000)),
            ByteBuffer::allocate,
            released::add);
    CountDownLatch inside = new CountDownLatch(1);
    CompletableFuture<Void> waits =
        futures
            .get(0)
            .thenRun(
                () -> {
                  inside.countDown();
                  var unused = futures.get(1).handle((bytes, failure) -> "over").join();
                });
    s3e.client.open();
    assertThat(inside.await(20, TimeUnit.SECONDS)).isTrue();

    end(in, close);

    waits.get(20, TimeUnit.SECONDS);
    assertThatThrownBy(() -> futures.get(1).get(5, TimeUnit.SECONDS))
        .hasCauseInstanceOf(InterruptedIOException.class);
    awaitTrue("GETs cancelled", () -> s3e.client.active() == 0);
    in.close();
  }

  @Test
  void aRangeThatNoBufferHoldsIsRefusedBeforeAnyGet() throws Exception {
    s3e.put(2);
    long size = 3L << 30;
    List<ByteRange> ranges = List.of(ByteRange.ofLength(0, 10), ByteRange.ofLength(10, 1L << 31));
    try (S3EInputStream in = s3e.open(RANDOM.withSize(size))) {
      assertThatThrownBy(() -> in.readVectored(ranges, ByteBuffer::allocate, released::add))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("longer than a buffer can be");
    }
    assertThat(s3e.client.active()).isZero();
  }

  @Test
  void aStreamReadsOnAfterUnbuffer() throws Exception {
    byte[] content = s3e.put(100);
    s3e.client.faults((request, number) -> Answer.GOOD.silentAfter(10));
    try (S3EInputStream in = s3e.open(RANDOM)) {
      List<CompletableFuture<ByteBuffer>> first = submit(in);
      in.unbuffer();
      for (CompletableFuture<ByteBuffer> future : first) {
        assertThatThrownBy(() -> future.get(5, TimeUnit.SECONDS))
            .hasCauseInstanceOf(InterruptedIOException.class);
      }
      s3e.client.faults((request, number) -> Answer.GOOD);
      List<CompletableFuture<ByteBuffer>> second = submit(in);
      for (int i = 0; i < RANGES.size(); i++) {
        ByteRange range = RANGES.get(i);
        assertThat(second.get(i).get(20, TimeUnit.SECONDS).array())
            .isEqualTo(Arrays.copyOfRange(content, (int) range.start(), (int) range.end()));
      }
    }
    awaitTrue("all but what was delivered", () -> released.size() == allocated.get() - 3);
  }

  @Test
  void aReadThatWaitsInAnotherThreadOutlivesUnbuffer() throws Exception {
    byte[] content = s3e.put(4);
    s3e.client.hold();
    try (S3EInputStream in = s3e.open(RANDOM)) {
      byte[] target = new byte[100];
      CompletableFuture<Integer> read =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return in.readAt(50, target, 0, 100);
                } catch (Exception e) {
                  throw new IllegalStateException(e);
                }
              });
      awaitTrue("a GET under way", () -> s3e.client.active() == 1);
      in.unbuffer();
      s3e.client.open();
      assertThat(read.get(20, TimeUnit.SECONDS)).isEqualTo(100);
      assertThat(target).isEqualTo(Arrays.copyOfRange(content, 50, 150));
    }
  }

  @Test
  void aCancelledFutureGivesItsBufferAndItsGetBack() throws Exception {
    storeIsSilent();
    try (S3EInputStream in = s3e.open(RANDOM)) {
      List<CompletableFuture<ByteBuffer>> futures = submit(in);
      awaitTrue("GETs under way", () -> allocated.get() == 3 && s3e.client.active() == 3);

      futures.get(1).cancel(true);

      awaitTrue("its buffer", () -> released.size() == 1);
      awaitTrue("its GET", () -> s3e.client.active() == 2);
      assertThat(released.peek().capacity()).isEqualTo(2 * BLOCK);
      assertThat(futures.get(0)).isNotDone();
      assertThat(futures.get(2)).isNotDone();
    }
  }

  /** All but the first GET are waited for by nobody as yet. */
  @Test
  void aCancelledRangeLeavesItsGetsToAnotherReadOfTheStream() throws Exception {
    byte[] content = s3e.put(100);
    s3e.client.hold();
    try (S3EInputStream in = s3e.open(RANDOM)) {
      List<ByteRange> range = List.of(new ByteRange(0, content.length));
      var first = in.readVectored(range, this::counted, released::add).get(0);
      int sent = s3e.client.gets().size();
      assertThat(sent).isGreaterThan(4);
      var second = in.readVectored(range, ByteBuffer::allocate, released::add).get(0);

      awaitTrue("a buffer to give back", () -> allocated.get() == 1);
      first.cancel(true);
      awaitTrue("its buffer", () -> !released.isEmpty());
      s3e.client.open();

      assertThat(second.get(20, TimeUnit.SECONDS).array()).isEqualTo(content);
      assertThat(s3e.client.gets()).hasSize(sent);
    }
  }

  /** Of what is asked for twice the rest is, of the other range nothing. */
  @Test
  void aCancelledRangesGetsEndWhereAnotherReadOfTheStreamWantsOthers() throws Exception {
    storeIsSilent();
    try (S3EInputStream in = s3e.open(RANDOM)) {
      List<CompletableFuture<ByteBuffer>> futures = submit(in);
      var other = in.readVectored(RANGES.subList(2, 3), ByteBuffer::allocate, released::add).get(0);
      awaitTrue("GETs under way", () -> allocated.get() == 3 && s3e.client.active() == 3);

      futures.forEach(future -> future.cancel(true));
      awaitTrue("GETs of the others", () -> s3e.client.active() == 1);
      assertThat(other).isNotDone();
      other.cancel(true);
      awaitTrue("its GET", () -> s3e.client.active() == 0);
    }
  }

  @Test
  void aFutureCancelledBeforeItsTurnAllocatesNothing() throws Exception {
    s3e.put(100);
    s3e.client.faults((request, number) -> Answer.GOOD.silentAfter(10));
    try (S3EInputStream in = s3e.open(RANDOM)) {
      // One group: the second waits for the first, on the same thread.
      List<CompletableFuture<ByteBuffer>> futures =
          in.readVectored(
              List.of(ByteRange.ofLength(0, 100), ByteRange.ofLength(200, 100)),
              this::counted,
              released::add);
      awaitTrue("the first reads", () -> allocated.get() == 1);
      futures.get(1).cancel(true);
      assertThat(s3e.client.active()).as("the GET is the first one's too").isEqualTo(1);
      futures.get(0).cancel(true);
      awaitTrue("their GET", () -> s3e.client.active() == 0);
      awaitTrue("the only buffer", () -> released.size() == 1);
      assertThat(allocated).hasValue(1);
    }
  }

  /** The thread may ask for the blocks anew between the end of their GET and its interrupt. */
  @Test
  @Slow
  void aFutureCancelledWhenItBeginsToReadLeavesNoGet() throws Exception {
    storeIsSilent();
    try (S3EInputStream in = s3e.open(RANDOM)) {
      for (int round = 1; round <= 500; round++) {
        int now = round;
        CompletableFuture<ByteBuffer> future =
            in.readVectored(List.of(ByteRange.ofLength(0, 100)), this::counted, released::add)
                .get(0);
        while (allocated.get() < now) {
          Thread.onSpinWait();
        }
        future.cancel(true);
        awaitTrue("its buffer", () -> released.size() == now);
        awaitTrue("its GET", () -> s3e.client.active() == 0);
      }
    }
  }

  @Test
  void aReleaseThatThrowsEndsNoOtherFuture() throws Exception {
    byte[] content = s3e.put(100);
    List<ByteRange> oneGroup = List.of(ByteRange.ofLength(0, 100), ByteRange.ofLength(200, 100));
    try (S3EInputStream in = s3e.open(RANDOM)) {
      List<CompletableFuture<ByteBuffer>> futures =
          in.readVectored(
              oneGroup,
              // Too small for the first range, which therefore fails with a buffer in hand.
              length -> ByteBuffer.allocate(allocated.getAndIncrement() == 0 ? 10 : length),
              buffer -> {
                throw new IllegalStateException("a bad release");
              });
      assertThatThrownBy(() -> futures.get(0).get(20, TimeUnit.SECONDS))
          .isInstanceOf(ExecutionException.class);
      assertThat(futures.get(1).get(20, TimeUnit.SECONDS).array())
          .isEqualTo(Arrays.copyOfRange(content, 200, 300));
    }
  }

  /** The first range is in memory, and has come before the engine refuses the second. */
  @Test
  void aRangeThatCameBeforeTheReadWasRefusedGivesItsBufferBack() throws Exception {
    s3e.put(100);
    AtomicReference<Thread> copying = new AtomicReference<>();
    StreamListener closing =
        new StreamListener() {
          @Override
          public void onGetStarted(long start, long bytes, boolean isGuess) {
            if (start == 0) {
              return;
            }
            while (copying.get() == null || !Threads.isWaiting(copying.get())) {
              Thread.onSpinWait();
            }
            s3e.engine.close();
          }
        };
    S3EInputStream in = s3e.open(RANDOM.withListener(closing));
    in.readFullyAt(0, new byte[1000], 0, 1000);
    assertThatThrownBy(
            () ->
                in.readVectored(
                    RANGES,
                    length -> {
                      copying.set(Thread.currentThread());
                      allocated.incrementAndGet();
                      return ByteBuffer.allocate(length);
                    },
                    released::add))
        .hasMessageContaining("closed");
    awaitTrue("all buffers are back", () -> released.size() == allocated.get());
    in.close();
  }

  @Test
  void noRangeIsLeftWhenTheEngineRefuses() throws Exception {
    s3e.put(100);
    S3EInputStream in = s3e.open(RANDOM);
    s3e.engine.close();
    assertThatThrownBy(() -> submit(in)).hasMessageContaining("closed");
    assertThat(released).hasSize(allocated.get());
    in.close();
  }

  /** The reads of a stream, the first time that somebody looks at them with no heap for it. */
  private static final class FullOnce extends AbstractSet<VectoredRead> {
    final AtomicBoolean hasThrown = new AtomicBoolean();
    final AtomicReference<Object> removed = new AtomicReference<>();

    @Override
    public Iterator<VectoredRead> iterator() {
      if (hasThrown.compareAndSet(false, true)) {
        throw new OutOfMemoryError("as if");
      }
      return Collections.emptyIterator();
    }

    @Override
    public int size() {
      return 1;
    }

    @Override
    public boolean remove(Object read) {
      return removed.compareAndSet(null, read);
    }
  }

  /** Ranges that wait for their turn would wait until their deadline. */
  @Test
  void anErrorOnTheWayToTheNextGroupEndsAllOfARead() throws Exception {
    storeIsSilent();
    try (S3EInputStream in = s3e.open(RANDOM)) {
      FullOnce all = new FullOnce();
      VectoredRead read =
          new VectoredRead(in.reader, RANGES, ByteBuffer::allocate, released::add, all);
      List<CompletableFuture<ByteBuffer>> futures = read.start();
      awaitTrue("GETs under way", () -> s3e.client.active() == 3);

      futures.get(0).cancel(true);

      for (CompletableFuture<ByteBuffer> each : futures.subList(1, 3)) {
        assertThatThrownBy(() -> each.get(5, TimeUnit.SECONDS))
            .hasCauseInstanceOf(InterruptedIOException.class)
            .hasMessageContaining("out of memory");
      }
      awaitTrue("the read is over", () -> all.removed.get() == read);
      assertThat(all.hasThrown).isTrue();
    }
  }

  /** A future that never completes would hang its reader without a deadline. */
  @Test
  void everyFutureCompletesWhateverReleaseThrows() throws Exception {
    storeIsSilent();
    S3EInputStream in = s3e.open(RANDOM);
    List<CompletableFuture<ByteBuffer>> futures =
        submit(
            in,
            buffer -> {
              throw new Unsayable();
            });
    awaitTrue("GETs under way", () -> allocated.get() == 3 && s3e.client.active() == 3);
    in.close();
    for (CompletableFuture<ByteBuffer> future : futures) {
      assertThatThrownBy(() -> future.get(5, TimeUnit.SECONDS))
          .isInstanceOf(ExecutionException.class);
    }
  }
}
