// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import static io.s3e.stream.EngineFixture.BLOCK;
import static io.s3e.stream.EngineFixture.ETAG;
import static io.s3e.stream.EngineFixture.REQUEST;
import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ByteRange;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.client.GetRequest;
import io.s3e.metrics.EngineMetrics;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.MemoryObjectClient.Answer;
import io.s3e.testing.Threads;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which GETs reads send, how many of them at once, and how often a reader waits. */
@Timeout(60)
class ReadRequestsTest {
  @RegisterExtension final EngineFixture s3e = EngineFixture.copying();

  @RegisterExtension final EngineFixture patient = EngineFixture.ofOneGet();

  private static List<ByteRange> ranges(List<GetRequest> gets) {
    return gets.stream().map(GetRequest::range).toList();
  }

  private void awaitGets(int count) throws InterruptedException {
    awaitTrue(count + " GETs", () -> s3e.client.gets().size() >= count);
  }

  private void awaitWhatIsUnderWay() throws InterruptedException {
    // Bytes count as fetched before the blocks they belong to are ready.
    awaitTrue("nothing is under way", () -> s3e.client.unended() == 0);
  }

  @Test
  void aSequentialScanWaitsForFewOfItsBlocksAndFetchesEachByteOnce() throws Exception {
    byte[] content = s3e.put(400);
    s3e.client.faults((request, number) -> Answer.GOOD.after(5));

    try (S3EInputStream in = s3e.open()) {
      assertThat(in.readAllBytes()).isEqualTo(content);
    }

    EngineMetrics metrics = s3e.engine.metrics();
    assertThat(metrics.get(Counter.WAITS)).as("waits for 400 blocks").isLessThan(60);
    assertThat(metrics.get(Counter.FETCHED_BYTES)).isEqualTo(content.length);
    assertThat(s3e.client.bytesAsked()).isEqualTo(content.length);
    assertThat(s3e.client.heads()).as("HEADs, one for the unknown size").isEqualTo(1);
  }

  @Test
  void availableTellsAllThatIsLeftAndFetchesNothing() throws Exception {
    byte[] content = s3e.put(3);
    OpenOptions options = OpenOptions.DEFAULTS.withSize(content.length);
    try (S3EInputStream in = s3e.open(options)) {
      for (int position : new int[] {0, 1, BLOCK, content.length - 1, content.length}) {
        in.seek(position);
        assertThat(in.available()).as("at %d", position).isEqualTo(content.length - position);
      }
      assertThat(s3e.client.gets()).isEmpty();
    }
  }

  @Test
  void aScanInReadsThatBeginInsideBlocksStaysAheadOfItsReader() throws Exception {
    // So few GETs that nothing is concluded from how fast they are answered.
    byte[] content = s3e.put(200);
    byte[] record = new byte[BLOCK + 1000];

    try (S3EInputStream in = s3e.open(OpenOptions.DEFAULTS.withPolicy(ReadPolicy.SEQUENTIAL))) {
      for (int at = 0; at + record.length <= content.length; at += record.length) {
        in.readFully(record, 0, record.length);
        awaitWhatIsUnderWay();
      }
    }

    EngineMetrics metrics = s3e.engine.metrics();
    assertThat(metrics.get(Counter.GETS) - metrics.get(Counter.PREFETCH_GETS))
        .as("GETs waited for")
        .isEqualTo(1);
  }

  @Test
  void aMovingReadWaitsForItsFirstBlockAlone() throws Exception {
    byte[] content = s3e.put(64);
    s3e.client.faults(
        (request, number) ->
            request.range().start() == 0 ? Answer.GOOD : Answer.GOOD.silentAfter(0));
    byte[] read = new byte[3 * BLOCK];
    try (S3EInputStream in = s3e.open(OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM))) {
      assertThat(in.willRead(new ByteRange(BLOCK, 3L * BLOCK))).isEqualTo(3L * BLOCK);
      assertThat(in.read(read, 0, read.length)).isEqualTo(BLOCK);
    }
    assertThat(Arrays.copyOf(read, BLOCK)).isEqualTo(Arrays.copyOf(content, BLOCK));
  }

  /** What reads a header or a few lines of a large object, and closes it. */
  @ParameterizedTest
  @CsvSource({"65536, 2", "262144, 2", "1048576, 4"})
  void aHeadCostsHardlyMoreThanItsBytes(int head, int mostGets) throws Exception {
    int mebibyte = 1 << 20;
    MemoryObjectClient client =
        new MemoryObjectClient(new ClientLimits(mebibyte, 16, 0, 4 * mebibyte, 16, 64L * mebibyte));
    byte[] content = MemoryObjectClient.bytes(64 * mebibyte, 5);
    client.put(EngineFixture.OBJECT, content, EngineFixture.ETAG);
    MemoryBudget budget = new MemoryBudget(128L * mebibyte);
    byte[] read = new byte[head];
    try (S3E engine = S3E.create(S3EConfig.DEFAULTS, budget, granted -> client);
        S3EInputStream in = engine.open(EngineFixture.OBJECT, OpenOptions.DEFAULTS)) {
      for (int at = 0; at < head; at += BLOCK) {
        in.readFully(read, at, BLOCK);
      }
      assertThat(client.gets()).hasSizeLessThanOrEqualTo(mostGets);
      assertThat(client.bytesAsked()).isLessThanOrEqualTo(2L * head);
    }
    assertThat(read).isEqualTo(Arrays.copyOf(content, head));
  }

  @Test
  void aSecondOpeningReadsFromMemory() throws Exception {
    byte[] content = s3e.put(100);
    try (S3EInputStream in = s3e.open()) {
      assertThat(in.readAllBytes()).isEqualTo(content);
    }
    int gets = s3e.client.gets().size();

    OpenOptions known = OpenOptions.DEFAULTS.withSize(content.length).withVersion(ETAG, null);
    try (S3EInputStream in = s3e.open(known)) {
      assertThat(in.readAllBytes()).isEqualTo(content);
      in.seek(0);
      assertThat(in.readNBytes(BLOCK)).isEqualTo(Arrays.copyOf(content, BLOCK));
    }

    assertThat(s3e.client.gets()).hasSize(gets);
    assertThat(s3e.client.heads()).isEqualTo(1);
  }

  @Test
  void anotherVersionIsNotServedFromTheFirstOnesBlocks() throws Exception {
    s3e.put(2);
    try (S3EInputStream in = s3e.open()) {
      in.readAllBytes();
    }
    byte[] other = new byte[2 * BLOCK];
    s3e.client.put(EngineFixture.OBJECT, other, "\"v2\"");

    try (S3EInputStream in = s3e.open()) {
      assertThat(in.readAllBytes()).isEqualTo(other);
    }
  }

  @Test
  void aRandomReadFetchesTheBlocksItNeedsAndNothingElse() throws Exception {
    byte[] content = s3e.put(100);
    byte[] target = new byte[BLOCK];

    try (S3EInputStream in = s3e.open(OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM))) {
      in.readFullyAt(10 * BLOCK + 5, target, 0, BLOCK);
      in.readFullyAt(70 * BLOCK, target, 0, 10);
      in.readFullyAt(70 * BLOCK + 20, target, 0, 10);
    }

    assertThat(ranges(s3e.client.gets()))
        .containsExactly(
            new ByteRange(10L * BLOCK, 12L * BLOCK), new ByteRange(70L * BLOCK, 71L * BLOCK));
    assertThat(Arrays.copyOf(target, 10))
        .isEqualTo(Arrays.copyOfRange(content, 70 * BLOCK + 20, 70 * BLOCK + 30));
  }

  @Test
  void aReadOverSeveralRequestsFetchesThemAtOnce() throws Exception {
    byte[] content = s3e.put(64);
    s3e.client.hold();
    try (S3EInputStream in = s3e.open(OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM))) {
      byte[] target = new byte[4 * REQUEST];

      CompletableFuture<Integer> read =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return in.readAt(0, target, 0, target.length);
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
      awaitGets(4);
      s3e.client.open();

      assertThat(read.get(30, TimeUnit.SECONDS)).isEqualTo(target.length);
      assertThat(target).isEqualTo(Arrays.copyOf(content, target.length));
      assertThat(s3e.client.gets()).hasSize(4);
    }
  }

  /**
   * The second one comes when all blocks of the first one's GET are known: two that come at once
   * may each find a part of them unknown, and send a GET for that part. However slow the machine
   * is, the one GET is not late: the client carries no other, and the store has never answered.
   */
  @Test
  void twoReadersOfTheSameBytesShareOneGet() throws Exception {
    byte[] content = patient.put(8);
    patient.client.hold();
    OpenOptions random =
        OpenOptions.DEFAULTS
            .withSize(content.length)
            .withVersion(ETAG, null)
            .withPolicy(ReadPolicy.RANDOM);
    try (S3EInputStream first = patient.open(random);
        S3EInputStream second = patient.open(random)) {
      byte[][] targets = new byte[2][REQUEST];
      List<Thread> readers = new ArrayList<>();
      for (S3EInputStream in : List.of(first, second)) {
        byte[] target = targets[readers.size()];
        Thread reader =
            new Thread(
                () -> {
                  try {
                    in.readFullyAt(0, target, 0, REQUEST);
                  } catch (IOException e) {
                    throw new UncheckedIOException(e);
                  }
                });
        readers.add(reader);
        reader.start();
        awaitTrue("one GET", () -> patient.client.gets().size() == 1);
        awaitTrue("each waits for the bytes", () -> Threads.isWaiting(reader));
      }
      patient.client.open();
      for (Thread reader : readers) {
        reader.join(30_000);
      }

      assertThat(targets[0]).isEqualTo(content);
      assertThat(targets[1]).isEqualTo(content);
      assertThat(patient.client.gets()).hasSize(1);
    }
  }

  @Test
  void prefetchStopsAtTheEndOfTheSplit() throws Exception {
    s3e.put(200);
    long end = 40L * BLOCK;

    try (S3EInputStream in = s3e.open(OpenOptions.DEFAULTS.withSplit(new ByteRange(0, end)))) {
      in.readNBytes((int) end - 1);
    }

    assertThat(ranges(s3e.client.gets())).allMatch(range -> range.end() <= end + BLOCK);
  }

  @Test
  void vectoredRangesAreAskedForAtOnceAndCloseOnesTogether() throws Exception {
    byte[] content = s3e.put(200);
    List<ByteRange> wanted =
        List.of(
            new ByteRange(0, 1000),
            new ByteRange(1500, 3000),
            new ByteRange(100L * BLOCK, 100L * BLOCK + 10),
            new ByteRange(50L * BLOCK, 50L * BLOCK),
            new ByteRange(150L * BLOCK + 7, 152L * BLOCK));
    s3e.client.hold();

    try (S3EInputStream in = s3e.open(OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM))) {
      var results = in.readVectored(wanted, ByteBuffer::allocate, buffer -> {});
      assertThat(ranges(s3e.client.gets()))
          .containsExactlyInAnyOrder(
              new ByteRange(0, BLOCK),
              new ByteRange(100L * BLOCK, 101L * BLOCK),
              new ByteRange(150L * BLOCK, 152L * BLOCK));
      s3e.client.open();
      for (int i = 0; i < wanted.size(); i++) {
        byte[] got = new byte[(int) wanted.get(i).length()];
        results.get(i).get(30, TimeUnit.SECONDS).get(got);
        assertThat(got)
            .isEqualTo(
                Arrays.copyOfRange(
                    content, (int) wanted.get(i).start(), (int) wanted.get(i).end()));
      }
    }
  }

  /** What lies between ranges comes along with them; alone nobody wants it. */
  @Test
  void vectoredRangesThatAreInMemorySendNoGetForWhatLiesBetween() throws Exception {
    byte[] content = s3e.put(200);
    List<ByteRange> wanted = new ArrayList<>();
    for (int i = 0; i < 16; i++) {
      wanted.add(ByteRange.ofLength(2L * i * BLOCK, 1000));
    }
    try (S3EInputStream in = s3e.open(OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM))) {
      for (ByteRange each : wanted) {
        in.readFullyAt(each.start(), new byte[1000], 0, 1000);
      }
      int sent = s3e.client.gets().size();
      var results = in.readVectored(wanted, ByteBuffer::allocate, buffer -> {});
      for (int i = 0; i < wanted.size(); i++) {
        int start = (int) wanted.get(i).start();
        assertThat(results.get(i).get(30, TimeUnit.SECONDS).array())
            .isEqualTo(Arrays.copyOfRange(content, start, start + 1000));
      }
      assertThat(s3e.client.gets()).hasSize(sent);
    }
  }

  /** As those of S3A's ranges, wherever the buffer's position was. */
  @Test
  void bytesOfARangeBeginAtPositionZero() throws Exception {
    byte[] content = s3e.put(2);
    List<ByteRange> wanted = List.of(ByteRange.ofLength(100, 1000));
    try (S3EInputStream in = s3e.open()) {
      ByteBuffer got =
          in.readVectored(
                  wanted, length -> ByteBuffer.allocate(length + 7).position(7), buffer -> {})
              .get(0)
              .get(30, TimeUnit.SECONDS);
      assertThat(got).isEqualTo(ByteBuffer.wrap(content, 100, 1000));
      assertThat(got.position()).isZero();
    }
  }

  @Test
  void closingCancelsWhatWasFetchedAheadAndWhatCameIsHeldUntilItGoes() throws Exception {
    s3e.put(200);
    S3EInputStream in = s3e.open(OpenOptions.DEFAULTS.withPolicy(ReadPolicy.SEQUENTIAL));
    in.readNBytes(3 * BLOCK);
    awaitWhatIsUnderWay();

    in.close();

    EngineMetrics metrics = s3e.engine.metrics();
    assertThat(metrics.get(Counter.HELD_BYTES))
        .isPositive()
        .isEqualTo(metrics.get(Counter.FETCHED_BYTES) - metrics.get(Counter.USED_BYTES));
    assertThat(metrics.get(Counter.WASTED_BYTES)).as("it may still be read").isZero();
    s3e.engine.close();
    assertThat(metrics.get(Counter.PREFETCH_WASTED_BYTES)).isPositive();
    assertThat(
            metrics.get(Counter.PREFETCH_USED_BYTES) + metrics.get(Counter.PREFETCH_WASTED_BYTES))
        .isEqualTo(metrics.get(Counter.PREFETCHED_BYTES))
        .isEqualTo(metrics.get(Counter.FETCHED_BYTES) - demanded());
  }

  private long demanded() {
    // The first GET is the read's own; everything else was a guess.
    return s3e.client.gets().get(0).range().length();
  }

  @Test
  void anEmptyRangeOfASmallObjectSendsNothing() throws Exception {
    s3e.put(2);
    try (S3EInputStream in = s3e.open(OpenOptions.DEFAULTS)) {
      var results =
          in.readVectored(List.of(new ByteRange(7, 7)), ByteBuffer::allocate, buffer -> {});
      assertThat(results.get(0).get(30, TimeUnit.SECONDS).remaining()).isZero();
    }
    assertThat(s3e.client.gets()).isEmpty();
  }
}
