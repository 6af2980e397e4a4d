// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import static io.s3e.stream.EngineFixture.ETAG;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.client.GetRequest;
import io.s3e.metrics.EngineMetrics;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.MemoryObjectClient.Answer;
import io.s3e.testing.MemoryObjectClient.Content;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many thousand ranges in one vectored read, near each other and far apart. */
@Timeout(120)
class ManyRangesTest {
  private static final int MIB = 1 << 20;
  private static final int NEAR = 100_000;
  private static final int FAR = 20_000;
  private static final int LENGTH = 100;
  private static final int DENSE = 1_000;
  private static final int SLOT = 4 * MIB;

  /** What the objects repeat: neither a block nor a stride is a divisor of its length. */
  private static final byte[] PATTERN = MemoryObjectClient.bytes(999_983, 7);

  private static final ObjectRef OBJECT = new ObjectRef("bucket", "key");

  private static List<ByteRange> ranges(int count, int stride) {
    return IntStream.range(0, count)
        .mapToObj(i -> ByteRange.ofLength((long) i * stride, LENGTH))
        .toList();
  }

  /** Returns what the engine has counted. */
  private static EngineMetrics requireBytes(
      MemoryObjectClient client, MemoryBudget budget, S3EConfig config, int count, int stride)
      throws Exception {
    client.put(OBJECT, new Content((long) count * stride, ManyRangesTest::bytes), ETAG);
    List<ByteRange> ranges = ranges(count, stride);
    EngineMetrics metrics;
    try (S3E engine = S3E.create(config, budget, granted -> client);
        S3EInputStream in =
            engine.open(OBJECT, OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM))) {
      metrics = engine.metrics();
      var results = in.readVectored(ranges, ByteBuffer::allocate, buffer -> {});
      for (int i = 0; i < count; i++) {
        ByteBuffer got = results.get(i).get(60, TimeUnit.SECONDS);
        if (!got.equals(bytes((long) i * stride, LENGTH))) {
          throw new AssertionError("wrong bytes in range " + i);
        }
      }
    }
    assertThat(budget.reserved()).as("bytes still reserved").isZero();
    assertThat(client.lentOut()).as("lent buffers still out").isZero();
    return metrics;
  }

  private static ByteBuffer bytes(long at, int count) {
    ByteBuffer bytes = ByteBuffer.allocate(count);
    while (bytes.hasRemaining()) {
      int from = (int) ((at + bytes.position()) % PATTERN.length);
      bytes.put(PATTERN, from, Math.min(PATTERN.length - from, bytes.remaining()));
    }
    return bytes.flip();
  }

  @Test
  void denseRangesCostNoMoreGetsThanAScan() throws Exception {
    MemoryObjectClient client =
        new MemoryObjectClient(new ClientLimits(MIB, 24, 0, SLOT, 24, 24L * SLOT));
    client.hold();
    client.faults(
        (request, number) -> {
          if (number == 10) {
            client.open();
          }
          return Answer.GOOD.after(5);
        });
    requireBytes(client, new MemoryBudget(256L * MIB), S3EConfig.DEFAULTS, NEAR, DENSE);
    requireFewGets(client, SLOT);
    assertThat(client.mostActive()).as("GETs at once").isGreaterThan(10);
  }

  /** Two slots: most groups wait for room. */
  @Test
  @Slow
  void denseRangesThatDoNotFitIntoMemoryAreFetchedOnce() throws Exception {
    MemoryObjectClient client =
        new MemoryObjectClient(new ClientLimits(MIB, 4, 0, SLOT, 2, 2L * SLOT));
    client.faults((request, number) -> Answer.GOOD.after(5));
    requireBytes(client, new MemoryBudget(20L * MIB), S3EConfig.DEFAULTS, NEAR, DENSE);
    requireFewGets(client, MIB);
  }

  @Test
  void denseRangesOfAClientThatOnlyCopiesCostNoMoreGetsThanAScan() throws Exception {
    MemoryObjectClient client = new MemoryObjectClient(ClientLimits.copying(SLOT, 8, 0));
    client.faults((get, number) -> Answer.GOOD.after(5));
    requireBytes(client, new MemoryBudget(64L * MIB), S3EConfig.DEFAULTS, NEAR, DENSE);
    requireFewGets(client, SLOT / 2);
  }

  /** The second range of a block comes when others have read more than memory holds. */
  @Test
  void blocksStayUntilTheirLastRangeIsRead() throws Exception {
    MemoryObjectClient client = new MemoryObjectClient(ClientLimits.copying(SLOT, 8, 0));
    ObjectRef other = new ObjectRef("bucket", "other");
    client.put(OBJECT, new Content(4 * SLOT, ManyRangesTest::bytes), ETAG);
    client.put(other, new Content(64 * SLOT, ManyRangesTest::bytes), ETAG);
    try (S3E engine =
            S3E.create(S3EConfig.DEFAULTS, new MemoryBudget(20L * MIB), granted -> client);
        S3EInputStream in =
            engine.open(OBJECT, OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM));
        S3EInputStream neighbour = engine.open(other, OpenOptions.DEFAULTS)) {
      AtomicInteger calls = new AtomicInteger();
      var results =
          in.readVectored(
              ranges(2, DENSE),
              length -> {
                if (calls.getAndIncrement() == 1) {
                  readToTheEnd(neighbour);
                }
                return ByteBuffer.allocate(length);
              },
              buffer -> {});
      for (int i = 0; i < 2; i++) {
        assertThat(results.get(i).get(60, TimeUnit.SECONDS))
            .isEqualTo(bytes((long) i * DENSE, LENGTH));
      }
    }
    assertThat(client.gets().stream().filter(get -> get.object().equals(OBJECT)))
        .as("GETs of the object")
        .hasSize(1);
  }

  private static void readToTheEnd(S3EInputStream in) {
    try {
      in.transferTo(OutputStream.nullOutputStream());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void requireFewGets(MemoryObjectClient client, int longest) {
    long bytes = (long) NEAR * DENSE;
    assertThat(client.gets().size()).as("GETs").isLessThanOrEqualTo((int) (bytes / longest) + 8);
    assertThat(client.bytesAsked()).as("bytes").isLessThanOrEqualTo(bytes + MIB);
  }

  @Slow
  @Test
  void rangesFarApartCostABlockEachAndNoMore() throws Exception {
    MemoryObjectClient client =
        new MemoryObjectClient(new ClientLimits(MIB, 24, 0, SLOT, 8, 8L * SLOT));
    EngineMetrics metrics =
        requireBytes(client, new MemoryBudget(64L * MIB), S3EConfig.DEFAULTS, FAR, MIB);
    // A GET that a busy machine does not come to answer in time is sent a second time.
    long late = metrics.get(Counter.HEDGES) + metrics.get(Counter.RETRIES);
    assertThat(client.gets().size() - late).as("GETs; %s", metrics.snapshot()).isEqualTo(FAR);
    assertThat(client.gets())
        .allMatch(get -> get.range().length() == S3EConfig.DEFAULTS.blockBytes());
    assertThat(client.gets().stream().map(GetRequest::range).distinct()).hasSize(FAR);
  }
}
