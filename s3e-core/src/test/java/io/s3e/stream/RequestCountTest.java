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
import io.s3e.prefetch.ReadPolicy;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.MemoryObjectClient.Answer;
import io.s3e.testing.Pause;
import io.s3e.testing.Slow;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How many GETs reads cost, with the default sizes: blocks of 64 KiB, GETs of 4 MiB at most. */
@Timeout(120)
class RequestCountTest {
  private static final int KIB = 1 << 10;
  private static final int MIB = 1 << 20;
  private static final int SLOT = 4 * MIB;
  private static final ObjectRef OBJECT = new ObjectRef("bucket", "key");

  private final MemoryObjectClient client =
      new MemoryObjectClient(new ClientLimits(MIB, 24, 0, SLOT, 24, 24L * SLOT));
  private final S3E engine =
      S3E.create(S3EConfig.DEFAULTS, new MemoryBudget(256L * MIB), granted -> client);

  @AfterEach
  void close() {
    engine.close();
  }

  private S3EInputStream open(int bytes, ReadPolicy policy) throws Exception {
    client.put(OBJECT, MemoryObjectClient.repeating(bytes, 7), ETAG);
    return engine.open(OBJECT, OpenOptions.DEFAULTS.withPolicy(policy));
  }

  private static double perGigabyte(List<GetRequest> gets) {
    long bytes = gets.stream().mapToLong(get -> get.range().length()).sum();
    return gets.size() * 1e9 / bytes;
  }

  @ParameterizedTest
  @EnumSource(
      value = ReadPolicy.class,
      names = {"SEQUENTIAL", "WHOLE_FILE", "ADAPTIVE"})
  void aScanUsesLongGets(ReadPolicy policy) throws Exception {
    client.faults((request, number) -> Answer.GOOD.after(10));
    try (S3EInputStream in = open(192 * MIB, policy)) {
      byte[] piece = new byte[128 * KIB];
      while (in.read(piece, 0, piece.length) > 0) {}
    }
    List<GetRequest> late =
        client.gets().stream()
            // The last 32 MiB come in shorter GETs, so that the last one does not run alone.
            .filter(get -> get.range().start() >= 64 * MIB && get.range().end() < 160 * MIB)
            .toList();
    assertThat(perGigabyte(late)).as("GETs a GB after 64 MiB").isLessThanOrEqualTo(250);
  }

  /** What was announced and is never read fills the pool of a client that lends nothing. */
  @Slow
  @Test
  void aScanBesideAForgottenStreamUsesLongGets() throws Exception {
    MemoryObjectClient copying = new MemoryObjectClient(ClientLimits.copying(4 * MIB, 24, 0));
    copying.put(OBJECT, MemoryObjectClient.repeating(64 * MIB, 7), ETAG);
    ObjectRef other = new ObjectRef("bucket", "forgotten");
    copying.put(other, MemoryObjectClient.repeating(64 * MIB, 7), ETAG);
    S3EConfig config = S3EConfig.DEFAULTS.toBuilder().memoryBytes(32L * MIB).build();
    try (S3E tenant = S3E.create(config, new MemoryBudget(32L * MIB), granted -> copying);
        S3EInputStream forgotten = tenant.open(other, OpenOptions.DEFAULTS)) {
      for (long at = 0; at < 32 * MIB; at += MIB) {
        var unused = forgotten.willRead(ByteRange.ofLength(at, MIB));
        while (copying.unended() > 0) {
          Thread.onSpinWait();
        }
      }
      Pause.millis(5_100, "it is idle");
      int before = copying.gets().size();
      OpenOptions told = OpenOptions.DEFAULTS.withPolicy(ReadPolicy.SEQUENTIAL);
      try (S3EInputStream in = tenant.open(OBJECT, told)) {
        assertThat(in.readAllBytes()).hasSize(64 * MIB);
      }
      assertThat(copying.gets().size() - before).as("GETs of 64 MiB").isLessThanOrEqualTo(64);
    }
  }

  /**
   * A reader that never waits needs no short GETs: they grow until a window holds four, and end as
   * long as they were. Slots of other lengths than today's show that nothing else keeps them short.
   */
  @Slow
  @ParameterizedTest
  @CsvSource({
    // streams, MiB of a slot, slots, GETs a GB: in all, and in the middle
    "1, 4, 34, 310, 240",
    "8, 4, 34, 325, 240",
    "1, 16, 9, 160, 80",
    "1, 1, 24, 970, 960",
    "8, 1, 24, 970, 960"
  })
  void aSlowScanUsesLongGetsToo(int streams, int slotMib, int slots, double all, double middle)
      throws Exception {
    int length = 256 * MIB / Math.max(1, streams / 4);
    try (SlowReaders slow = new SlowReaders(streams, slotMib, slots, length)) {
      slow.read(length);
      List<GetRequest> late =
          slow.store.gets().stream()
              .filter(get -> get.range().start() >= length / 4)
              .filter(get -> get.range().end() < length / 4 * 3)
              .toList();
      assertThat(perGigabyte(late)).as("GETs a GB in the middle").isLessThanOrEqualTo(middle);
      assertThat(perGigabyte(slow.store.gets())).as("GETs a GB").isLessThanOrEqualTo(all);
    }
  }

  /** Nor is it ahead by more than what it has read since it last waited. */
  @ParameterizedTest
  @ValueSource(ints = {1, 4, 12, 24, 48, 96})
  void aSlowScanThatEndsEarlyHasCostTwiceItsBytesAtMost(int mib) throws Exception {
    try (SlowReaders slow = new SlowReaders(1, 16, 9, 256 * MIB)) {
      slow.read(mib * MIB);
      assertThat(slow.store.bytesAsked())
          .isLessThanOrEqualTo(mib * MIB + Math.max(10, mib) * (long) MIB);
    }
  }

  /** Readers by turns, none of whom waits: every GET has come before they read on. */
  private static final class SlowReaders implements AutoCloseable {
    private final MemoryObjectClient store;
    private final S3E tenant;
    private final List<S3EInputStream> streams = new ArrayList<>();

    SlowReaders(int count, int slotMib, int slots, int length) throws Exception {
      int slot = slotMib * MIB;
      long budget = 2L * slots * slot;
      store =
          new MemoryObjectClient(
              new ClientLimits(MIB / 2, 24, 0, slot, slots, (long) slots * slot));
      tenant =
          S3E.create(
              S3EConfig.DEFAULTS.toBuilder().requestBytes(16 * MIB).memoryBytes(budget).build(),
              new MemoryBudget(budget),
              granted -> store);
      store.answerAtOnce();
      MemoryObjectClient.Content bytes = MemoryObjectClient.repeating(length, 7);
      for (int i = 0; i < count; i++) {
        ObjectRef object = new ObjectRef("bucket", "key" + i);
        store.put(object, bytes, ETAG);
        OpenOptions options = OpenOptions.DEFAULTS.withPolicy(ReadPolicy.SEQUENTIAL);
        streams.add(tenant.open(object, options));
      }
    }

    void read(int bytes) throws Exception {
      byte[] piece = new byte[64 * KIB];
      for (int at = 0; at < bytes; at += piece.length) {
        for (S3EInputStream in : streams) {
          assertThat(in.readNBytes(piece, 0, piece.length)).isEqualTo(piece.length);
        }
      }
    }

    @Override
    public void close() throws Exception {
      for (S3EInputStream in : streams) {
        in.close();
      }
      tenant.close();
    }
  }

  /** Reads a split of an object of three, and returns how many GETs that took. */
  private int split(int number, int millis) throws Exception {
    int before = client.gets().size();
    ByteRange split = ByteRange.ofLength(number * 32L * MIB, 32 * MIB);
    try (S3EInputStream in = engine.open(OBJECT, OpenOptions.DEFAULTS.withSplit(split))) {
      in.seek(split.start());
      byte[] piece = new byte[128 * KIB];
      for (int at = 0; at < split.length(); at += piece.length) {
        if (at == 8 * MIB && millis > 0) {
          Pause.millis(millis, "a reader computes");
        }
        assertThat(in.readNBytes(piece, 0, piece.length)).isEqualTo(piece.length);
      }
    }
    return client.gets().size() - before;
  }

  /** 8 MiB in 400 ms are 21 MB/s. The object after it in the same place profits, no other does. */
  @Slow
  @Test
  void splitsOfSlowReadersAreAFewLongGets() throws Exception {
    client.put(OBJECT, MemoryObjectClient.repeating(128 * MIB, 7), ETAG);
    assertThat(split(0, 400)).as("nothing is known").isBetween(10, 24);
    assertThat(split(1, 400)).as("after a slow one").isLessThanOrEqualTo(9);
    assertThat(split(2, 0)).as("after a slow one, by a fast one").isLessThanOrEqualTo(12);
    assertThat(split(3, 400)).as("after a fast one").isBetween(10, 24);

    ObjectRef elsewhere = new ObjectRef("bucket", "elsewhere/key");
    client.put(elsewhere, MemoryObjectClient.repeating(32 * MIB, 7), ETAG);
    int before = client.gets().size();
    OpenOptions told = OpenOptions.DEFAULTS.withPolicy(ReadPolicy.SEQUENTIAL);
    try (S3EInputStream in = engine.open(elsewhere, told)) {
      assertThat(in.readAllBytes()).hasSize(32 * MIB);
    }
    assertThat(client.gets().size() - before).as("of another place").isBetween(10, 24);
  }

  /** Who has said nothing may only look: it gets no more than before. */
  @Test
  void aLookBesideSlowReadersStaysALook() throws Exception {
    client.put(OBJECT, MemoryObjectClient.repeating(128 * MIB, 7), ETAG);
    split(0, 400);
    long before = client.bytesAsked();
    ObjectRef other = new ObjectRef("bucket", "other");
    client.put(other, MemoryObjectClient.repeating(64 * MIB, 7), ETAG);
    try (S3EInputStream in = engine.open(other, OpenOptions.DEFAULTS)) {
      assertThat(in.readNBytes(new byte[64 * KIB], 0, 64 * KIB)).isEqualTo(64 * KIB);
    }
    assertThat(client.bytesAsked() - before).isLessThanOrEqualTo(128 * KIB);
  }

  /** As of blocks of a container file, by an index: nothing tells how the stream will be read. */
  @Test
  void runsWithJumpsAreAGetEachOnceTheirLengthIsKnown() throws Exception {
    client.faults((request, number) -> Answer.GOOD.after(10));
    try (S3EInputStream in = open(192 * MIB, ReadPolicy.ADAPTIVE)) {
      int before = 0;
      long bytesBefore = 0;
      for (int run = 0; run < 28; run++) {
        if (run == 8) {
          before = client.gets().size();
          bytesBefore = client.bytesAsked();
        }
        in.seek((run * 67L * MIB) % (191 * MIB));
        for (int piece = 0; piece < 16; piece++) {
          assertThat(in.readNBytes(64 * KIB)).hasSize(64 * KIB);
        }
      }
      assertThat(client.gets().size() - before).as("GETs of 20 runs").isLessThanOrEqualTo(24);
      assertThat(client.bytesAsked() - bytesBefore).isLessThanOrEqualTo(24L * MIB);
    }
  }

  /** Reads so many blocks of a split, and stops; how many GETs that took. */
  private int head(ObjectRef object, int blocks) throws Exception {
    int before = client.gets().size();
    OpenOptions told = OpenOptions.DEFAULTS.withSplit(ByteRange.ofLength(0, 32 * MIB));
    try (S3EInputStream in = engine.open(object, told.withPolicy(ReadPolicy.SEQUENTIAL))) {
      for (int i = 0; i < blocks; i++) {
        assertThat(in.readNBytes(64 * KIB)).hasSize(64 * KIB);
      }
    }
    return client.gets().size() - before;
  }

  /** As for LIMIT, or for a header. The next object of the place profits, until one is read on. */
  @Test
  void whoStopsSoonIsNotFetchedAheadForASecondTime() throws Exception {
    // So long that more GETs are started before the first byte is there than a brief reader has.
    client.faults((request, number) -> Answer.GOOD.after(100));
    client.put(OBJECT, MemoryObjectClient.repeating(64 * MIB, 7), ETAG);
    ObjectRef other = new ObjectRef("bucket", "other");
    client.put(other, MemoryObjectClient.repeating(64 * MIB, 7), ETAG);
    ObjectRef elsewhere = new ObjectRef("bucket", "elsewhere/key");
    client.put(elsewhere, MemoryObjectClient.repeating(64 * MIB, 7), ETAG);
    assertThat(head(OBJECT, 1)).as("nothing is known").isBetween(4, 10);
    long before = client.bytesAsked();
    assertThat(head(other, 1)).as("after one that stopped").isLessThanOrEqualTo(2);
    assertThat(client.bytesAsked() - before).isLessThanOrEqualTo(MIB + 64 * KIB);
    assertThat(head(elsewhere, 1)).as("of another place").isBetween(4, 10);
    assertThat(head(other, 20)).as("it goes on").isLessThanOrEqualTo(24);
    ObjectRef last = new ObjectRef("bucket", "last");
    client.put(last, MemoryObjectClient.repeating(64 * MIB, 7), ETAG);
    assertThat(head(last, 1)).as("after one that went on").isBetween(4, 10);
  }

  @ParameterizedTest
  @CsvSource({"200, SEQUENTIAL", "200, RANDOM", "1024, ADAPTIVE", "1024, RANDOM", "1, RANDOM"})
  void aSmallObjectIsOneGet(int kib, ReadPolicy policy) throws Exception {
    try (S3EInputStream in = open(kib * KIB, policy)) {
      in.seek(in.size() - 8);
      in.readNBytes(8);
      in.seek(0);
      assertThat(in.readAllBytes()).hasSize(kib * KIB);
    }
    assertThat(client.gets()).hasSize(1);
  }

  @Test
  void aSmallObjectIsOneGetForVectoredAndPositionedReads() throws Exception {
    try (S3EInputStream in = open(900 * KIB, ReadPolicy.RANDOM)) {
      byte[] third = new byte[300 * KIB];
      in.readFullyAt(600 * KIB, third, 0, third.length);
      var results =
          in.readVectored(
              List.of(ByteRange.ofLength(0, 100), ByteRange.ofLength(500 * KIB, 100)),
              ByteBuffer::allocate,
              buffer -> {});
      for (CompletableFuture<ByteBuffer> result : results) {
        result.get(30, TimeUnit.SECONDS);
      }
    }
    assertThat(client.gets()).hasSize(1);
  }

  @Test
  void aGlanceIntoASmallObjectFetchesItsBlockAlone() throws Exception {
    try (S3EInputStream in = open(900 * KIB, ReadPolicy.RANDOM)) {
      in.readFullyAt(500 * KIB, new byte[10], 0, 10);
    }
    assertThat(client.bytesAsked()).isEqualTo(64 * KIB);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 65_535, 100_000})
  void aPositionedReadOfTwoMebibytesIsFourGets(int offset) throws Exception {
    try (S3EInputStream in = open(32 * MIB, ReadPolicy.RANDOM)) {
      in.readFullyAt(5 * MIB + offset, new byte[2 * MIB], 0, 2 * MIB);
    }
    assertThat(client.gets()).hasSize(4).allMatch(get -> get.range().length() >= 512 * KIB);
  }

  @Test
  void aColumnReadByVectoredReadsUsesLongGets() throws Exception {
    List<ByteRange> column = new ArrayList<>();
    for (int i = 0; i < 96; i++) {
      column.add(ByteRange.ofLength((long) i * MIB, MIB));
    }
    requireVectored(column, 400);
  }

  /** What came along between ranges makes room for what the same reader asks for next. */
  @Test
  void gapsBetweenRangesDoNotFillMemory() throws Exception {
    MemoryObjectClient copying = new MemoryObjectClient(ClientLimits.copying(4 * MIB, 24, 0));
    copying.put(OBJECT, MemoryObjectClient.repeating(192 * MIB, 7), ETAG);
    S3EConfig config = S3EConfig.DEFAULTS.toBuilder().memoryBytes(32L * MIB).build();
    try (S3E tenant = S3E.create(config, new MemoryBudget(32L * MIB), granted -> copying);
        S3EInputStream in =
            tenant.open(OBJECT, OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM))) {
      for (long at = 0; at < 184 * MIB; at += 8 * MIB) {
        List<ByteRange> ranges = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
          ranges.add(ByteRange.ofLength(at + i * 128L * KIB, KIB));
        }
        for (CompletableFuture<ByteBuffer> each :
            in.readVectored(ranges, ByteBuffer::allocate, buffer -> {})) {
          assertThat(each.get(30, TimeUnit.SECONDS).remaining()).isEqualTo(KIB);
        }
      }
    }
    assertThat(copying.gets().size()).as("of 23 reads").isLessThanOrEqualTo(23 * 5);
  }

  @Test
  void chunksOfTwoMebibytesAreFetchedWholeAndLongerOnesInParallelPieces() throws Exception {
    List<ByteRange> chunks = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      chunks.add(ByteRange.ofLength(i * 16L * MIB + 1000, 2 * MIB));
    }
    chunks.add(ByteRange.ofLength(64L * MIB + 1000, 4 * MIB));
    requireVectored(chunks, 500);
    assertThat(client.gets()).hasSize(6);
  }

  @Test
  void theLongestRangeOfAVectoredReadIsCutIntoPiecesOfTwoMebibytes() throws Exception {
    requireVectored(
        List.of(
            ByteRange.ofLength(0, 10 * MIB),
            ByteRange.ofLength(20L * MIB, 4 * MIB),
            ByteRange.ofLength(30L * MIB, MIB),
            ByteRange.ofLength(40L * MIB, MIB)),
        600);
    assertThat(client.gets()).hasSize(9).allMatch(get -> get.range().length() <= 2 * MIB);
  }

  @Test
  void aLongPositionedReadIsCutIntoPiecesOfOneMebibyteAtLeast() throws Exception {
    try (S3EInputStream in = open(32 * MIB, ReadPolicy.RANDOM)) {
      in.readFullyAt(0, new byte[6 * MIB], 0, 6 * MIB);
    }
    assertThat(client.gets()).hasSize(6);
  }

  @Test
  void aReaderWhoseByteIsThereDoesNotWaitForSlowStartsOfOthers() throws Exception {
    client.faults(
        (request, number) -> {
          // As in a JVM that has just begun, where each GET takes the reader's thread 10 ms.
          Pause.nanos(TimeUnit.MILLISECONDS.toNanos(10), "a slow start");
          return Answer.GOOD;
        });
    try (S3EInputStream in = open(16 * MIB, ReadPolicy.WHOLE_FILE)) {
      assertThat(in.read()).isEqualTo(MemoryObjectClient.bytes(16 * MIB, 7)[0] & 0xFF);
      assertThat(client.gets()).hasSizeLessThan(5);
      byte[] rest = in.readAllBytes();
      assertThat(
              Arrays.mismatch(
                  rest, 0, rest.length, MemoryObjectClient.bytes(16 * MIB, 7), 1, 16 * MIB))
          .isEqualTo(-1);
    }
    assertThat(client.gets())
        .as("what was left out is prefetched all the same")
        .hasSizeGreaterThan(4);
    assertThat(client.bytesAsked()).isEqualTo(16 * MIB);
  }

  private void requireVectored(List<ByteRange> ranges, double most) throws Exception {
    try (S3EInputStream in = open(128 * MIB, ReadPolicy.RANDOM)) {
      var results = in.readVectored(ranges, ByteBuffer::allocate, buffer -> {});
      for (CompletableFuture<ByteBuffer> result : results) {
        result.get(60, TimeUnit.SECONDS);
      }
    }
    assertThat(perGigabyte(client.gets())).as("GETs a GB").isLessThanOrEqualTo(most);
  }
}
