// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import static io.s3e.stream.EngineFixture.BLOCK;
import static io.s3e.stream.EngineFixture.REQUEST;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.OpenOptions;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.testing.Eventually;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.MemoryObjectClient.Answer;
import io.s3e.testing.Slow;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Many more readers whose GETs are never answered than there are places, of a store that has not
 * answered anybody yet. Nothing of theirs ends by itself while the tests last: whoever gets a place
 * beside them gets one that they have left.
 */
@Timeout(90)
@Slow
@Tag("waits")
class StarvedReadersTest {
  private static final OpenOptions RANDOM = OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM);
  private static final int HANGING = 40;
  private static final int READERS = 4;
  private static final int READS = 10;
  private static final int SIZE = 4 * REQUEST;

  @RegisterExtension final EngineFixture s3e = EngineFixture.crowded();

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<S3EInputStream> streams = new ArrayList<>();
  private byte[] content;

  @AfterEach
  void close() throws Exception {
    for (S3EInputStream stream : streams) {
      stream.close();
    }
    threads.shutdownNow();
    assertThat(threads.awaitTermination(30, TimeUnit.SECONDS)).as("readers end").isTrue();
  }

  private S3EInputStream open(String name) throws Exception {
    ObjectRef object = new ObjectRef("bucket", name);
    s3e.client.put(object, content, EngineFixture.ETAG);
    S3EInputStream stream = s3e.engine.open(object, RANDOM);
    synchronized (streams) {
      streams.add(stream);
    }
    return stream;
  }

  /** Each reads so many bytes of an object of its own that is never answered. */
  private void hang(int bytes) throws Exception {
    content = MemoryObjectClient.bytes(SIZE, 5);
    s3e.client.faults(
        (request, number) ->
            request.object().key().startsWith("hanging")
                ? Answer.GOOD.silentAfter(0)
                : Answer.GOOD);
    for (int i = 0; i < HANGING; i++) {
      S3EInputStream in = open("hanging-" + i);
      Future<?> unused = threads.submit(() -> in.readAt(0, new byte[bytes], 0, bytes));
    }
    Eventually.awaitTrue("all places are taken", () -> s3e.client.gets().size() >= 8);
  }

  /** Each read is of an object that nobody has read before. */
  private void readBeside(int bytes) throws Exception {
    List<Future<?>> readers = new ArrayList<>();
    for (int i = 0; i < READERS; i++) {
      int reader = i;
      readers.add(
          threads.submit(
              () -> {
                for (int read = 0; read < READS; read++) {
                  byte[] got = new byte[bytes];
                  open("well-" + reader + "-" + read).readFullyAt(BLOCK, got, 0, bytes);
                  assertThat(got).isEqualTo(Arrays.copyOfRange(content, BLOCK, BLOCK + bytes));
                }
                return null;
              }));
    }
    for (Future<?> reader : readers) {
      reader.get(60, TimeUnit.SECONDS);
    }
    assertThat(s3e.engine.metrics().get(Counter.FAILURES)).as("failed runs").isZero();
  }

  @Test
  void shortReadsGetPlacesBesideShortReadsThatHang() throws Exception {
    hang(1_000);
    readBeside(1_000);
  }

  @Test
  void shortReadsGetPlacesBesideLongReadsThatHang() throws Exception {
    hang(REQUEST);
    readBeside(1_000);
  }

  @Test
  void longReadsGetSlotsBesideLongReadsThatHang() throws Exception {
    hang(REQUEST);
    readBeside(REQUEST);
  }

  @Test
  void vectoredReadsGetPlacesBesideVectoredReadsThatHang() throws Exception {
    hang(1_000);
    List<ByteRange> ranges = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      ranges.add(ByteRange.ofLength((long) i * REQUEST, 1_000));
    }
    for (int i = 0; i < HANGING; i++) {
      open("hanging-vectored-" + i).readVectored(ranges, ByteBuffer::allocate, buffer -> {});
    }
    for (int read = 0; read < READS; read++) {
      var results = open("well-" + read).readVectored(ranges, ByteBuffer::allocate, buffer -> {});
      for (int i = 0; i < ranges.size(); i++) {
        ByteRange range = ranges.get(i);
        assertThat(results.get(i).get(60, TimeUnit.SECONDS).array())
            .isEqualTo(Arrays.copyOfRange(content, (int) range.start(), (int) range.end()));
      }
    }
  }

  /** GETs that hang leave their places, and come back to them once their objects answer. */
  @Test
  void readersThatHaveLeftTheirPlacesReadOnceTheirObjectsAnswer() throws Exception {
    hang(1_000);
    readBeside(1_000);
    s3e.client.faults((request, number) -> Answer.GOOD);
    for (int i = 0; i < HANGING; i++) {
      byte[] got = new byte[1_000];
      S3EInputStream in = open("hanging-" + i);
      assertThat(threads.submit(() -> in.readAt(BLOCK, got, 0, 1_000)).get(60, TimeUnit.SECONDS))
          .isEqualTo(1_000);
      assertThat(got).isEqualTo(Arrays.copyOfRange(content, BLOCK, BLOCK + 1_000));
    }
  }
}
