// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.client.GetRequest;
import io.s3e.disk.DiskCacheConfig;
import io.s3e.disk.DiskCacheConfig.Mode;
import io.s3e.disk.DiskCacheConfig.Scope;
import io.s3e.metrics.DiskMetrics.Counter;
import io.s3e.metrics.EngineMetrics;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.testing.DiskWrites;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.Seed;
import io.s3e.testing.Slow;
import io.s3e.testing.SlowStore;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is asked of S3 and what is not, with a cache on disk behind a small memory. */
@Timeout(120)
@Tag("waits")
class DiskCacheReadsTest {
  private static final int BLOCK = 64 << 10;
  private static final int REQUEST = 8 * BLOCK;

  /**
   * Of it, 4 MiB are the write queue's, 72 MiB are counted as the client's, and 48 MiB are left.
   */
  private static final long MEMORY_BYTES = 128L << 20;

  private static final long CLIENTS_BYTES = 72L << 20;

  /** Of it, 8 MiB are the client's, and 20 MiB are left beside the cache's own buffers. */
  private static final long SMALL_BYTES = 32L << 20;

  private static final ClientLimits SMALL_LIMITS = ClientLimits.copying(REQUEST, 4, 8L << 20);

  /** Twice the memory. */
  private static final int OBJECT_BYTES = (96 << 20) + 12_345;

  /** S3 is slower than the disk. */
  private static final MemoryObjectClient.Faults SLOWER_THAN_DISK =
      (request, number) -> MemoryObjectClient.Answer.GOOD.after(20);

  /** The object and its queue fit into half of it: nothing is dropped, however slow the disk is. */
  private static final long AMPLE_BYTES = 384L << 20;

  private static final ObjectRef OBJECT = new ObjectRef("bucket", "key");
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  /** Of {@link #toAndFro}; the object ends inside of one, which is not read. */
  private static final long GROUP_BYTES = 6 * 16 * BLOCK;

  private static final byte[] CONTENT = MemoryObjectClient.bytes(OBJECT_BYTES, 7);

  @TempDir Path directory;

  private MemoryObjectClient client =
      new MemoryObjectClient(ClientLimits.copying(REQUEST, 16, CLIENTS_BYTES));

  private DiskCacheConfig.Builder disk(Scope scope) {
    return DiskCacheConfig.DEFAULTS.toBuilder()
        .mode(Mode.DISK)
        .scope(scope)
        .capacityBytes(1L << 30)
        .readDeadline(Duration.ofSeconds(5))
        .directories(List.of(directory));
  }

  private S3E engine(DiskCacheConfig.Builder disk) throws IOException {
    return engine(disk, ClientLimits.copying(REQUEST, 16, CLIENTS_BYTES));
  }

  private S3E engine(DiskCacheConfig.Builder disk, ClientLimits limits) throws IOException {
    return engine(disk, limits, MEMORY_BYTES);
  }

  private S3E ampleEngine(DiskCacheConfig.Builder disk) throws IOException {
    return engine(disk, ClientLimits.copying(REQUEST, 16, CLIENTS_BYTES), AMPLE_BYTES);
  }

  private S3E engine(DiskCacheConfig.Builder disk, ClientLimits limits, long memoryBytes)
      throws IOException {
    return engine(disk, limits, memoryBytes, S3EConfig.DEFAULTS.toBuilder().blockBytes(BLOCK));
  }

  private S3E engine(
      DiskCacheConfig.Builder disk, ClientLimits limits, long memoryBytes, S3EConfig.Builder rest)
      throws IOException {
    client = new MemoryObjectClient(limits);
    client.put(OBJECT, CONTENT, "\"v1\"");
    client.faults(SLOWER_THAN_DISK);
    int request = Math.max(REQUEST, limits.copyRequestBytes());
    S3EConfig config = rest.requestBytes(request).store("memory").diskCache(disk.build()).build();
    S3E engine = S3E.create(config, new MemoryBudget(memoryBytes), granted -> client);
    settle(engine);
    return engine;
  }

  @AfterEach
  void nothingIsLentOut() {
    assertThat(client.lentOut()).isZero();
    assertThat(client.doubleCloses()).isZero();
  }

  /** Reads 1 MiB, skips 2, reads 1, goes back 3, until all has been read. */
  private void toAndFro(S3E engine) throws IOException {
    int piece = 16 * BLOCK;
    byte[] buffer = new byte[piece];
    try (S3EInputStream in = engine.open(OBJECT)) {
      for (int group = 0; group + 6 <= OBJECT_BYTES / piece; group += 6) {
        for (int step : new int[] {0, 3, 1, 4, 2, 5}) {
          int at = (group + step) * piece;
          in.seek(at);
          int count = in.readNBytes(buffer, 0, piece);
          assertThat(Arrays.equals(buffer, 0, count, CONTENT, at, at + piece)).isTrue();
          // The queue is as small as the memory; here nothing is to be dropped.
          settle(engine);
        }
      }
    }
  }

  private void scan(S3E engine, ReadPolicy policy) throws IOException {
    try (S3EInputStream in = engine.open(OBJECT, OpenOptions.DEFAULTS.withPolicy(policy))) {
      byte[] buffer = new byte[4 * BLOCK];
      for (int at = 0; at < OBJECT_BYTES; ) {
        int count = in.readNBytes(buffer, 0, buffer.length);
        assertThat(Arrays.equals(buffer, 0, count, CONTENT, at, at + count)).isTrue();
        at += count;
        settle(engine);
      }
    }
  }

  /** Waits until nothing more is to be written. */
  private static void settle(S3E engine) throws IOException {
    try {
      DiskWrites.await(engine, PATIENCE);
    } catch (InterruptedException e) {
      throw new InterruptedIOException("interrupted");
    }
  }

  private static long count(S3E engine, Counter counter) {
    return engine.metrics().disk().get(counter);
  }

  @Test
  void whatWasReadToAndFroComesFromDiskTheSecondTime() throws Exception {
    try (S3E engine = engine(disk(Scope.PRIVATE))) {
      toAndFro(engine);
      settle(engine);
      int gets = client.gets().size();

      toAndFro(engine);

      assertThat(client.gets().subList(gets, client.gets().size()))
          .as("GETs of the last pass; %s", engine.metrics().disk().snapshot())
          .allSatisfy(
              get ->
                  assertThat(get.range().start())
                      .as("a guess behind all that was read")
                      .isGreaterThanOrEqualTo(OBJECT_BYTES / GROUP_BYTES * GROUP_BYTES));
      assertThat(count(engine, Counter.HIT_BYTES)).isPositive();
      assertThat(count(engine, Counter.CORRUPTIONS)).isZero();
      assertThat(count(engine, Counter.DROPPED_BEHIND_BYTES)).isZero();
    }
    assertThat(files()).as("left by a private cache").isEmpty();
  }

  /** An eighth of what a pass reads, and less. */
  private static final long BUSY_BYTES = 5 << 20;

  /** Of a pass. */
  private static final int READS = 40;

  /** One read of a pass. */
  private interface Pass {
    void read(S3EInputStream in, Random random) throws Exception;
  }

  private void requireSecondPassWithoutGet(Pass pass) throws Exception {
    requirePassWithoutGet(2, pass);
  }

  private void requirePassWithoutGet(int passes, Pass pass) throws Exception {
    long seed = Seed.draw();
    // A guess that comes true only in the second pass would be a GET that says nothing of the disk.
    S3EConfig.Builder withoutGuesses =
        S3EConfig.DEFAULTS.toBuilder().blockBytes(BLOCK).prefetch(false);
    try (S3E engine = engine(disk(Scope.PRIVATE), SMALL_LIMITS, SMALL_BYTES, withoutGuesses)) {
      long notAdmitted = 0;
      for (int round = 1; round <= passes; round++) {
        if (round == passes) {
          SlowStore.isRemembered(engine, client, SLOWER_THAN_DISK);
        }
        int gets = client.gets().size();
        long ofPassBefore = count(engine, Counter.NOT_ADMITTED_BYTES) - notAdmitted;
        notAdmitted += ofPassBefore;
        try (S3EInputStream in = engine.open(OBJECT)) {
          Random random = new Random(seed);
          for (int i = 0; i < READS; i++) {
            pass.read(in, random);
            if (round < passes) {
              // However slow the disk of this machine is.
              settle(engine);
            }
          }
        }
        settle(engine);
        if (round == passes) {
          // A busy machine's disk may be slower, for a moment, than a store in memory.
          assertThat(bytesOf(client.gets().subList(gets, client.gets().size())))
              .as("GETs of the last pass; %s", engine.metrics().disk().snapshot())
              .isLessThanOrEqualTo(ofPassBefore);
          assertThat(ofPassBefore).as("not admitted by a busy machine").isLessThan(BUSY_BYTES);
        }
      }
      long asked =
          bytesOf(client.gets().stream().filter(get -> get.object().equals(OBJECT)).toList());
      assertThat(asked).as("more than memory holds").isGreaterThan(SMALL_BYTES);
      Map<Counter, Long> counted = engine.metrics().disk().snapshot();
      assertThat(counted.get(Counter.OFFERED_BYTES) + counted.get(Counter.NOT_ADMITTED_BYTES))
          .as("offered or not worth it, of what was fetched; %s", counted)
          .isEqualTo(asked);
      // An island that a run has gone over was in memory already, and leaves as it lands; or on
      // disk, where that seemed slower than the store.
      assertThat(
              counted.get(Counter.WRITTEN_BYTES)
                  + counted.get(Counter.DROPPED_EVICTED_BYTES)
                  + counted.get(Counter.DROPPED_PRESENT_BYTES))
          .as("written of what was offered, but for islands; %s", counted)
          .isEqualTo(counted.get(Counter.OFFERED_BYTES));
      assertThat(counted.get(Counter.DROPPED_EVICTED_BYTES))
          .as("islands are a fifth at most; %s", counted)
          .isLessThanOrEqualTo(asked / 5);
      assertThat(counted.get(Counter.CORRUPTIONS)).isZero();
    }
    assertThat(files()).as("left by a private cache").isEmpty();
  }

  private void requireRight(byte[] got, int count, int at) {
    assertThat(Arrays.equals(got, 0, count, CONTENT, at, at + count))
        .as("bytes at %d", at)
        .isTrue();
  }

  @Test
  @Slow
  void randomReadsAreWrittenWhenTheyAreFetchedAgain() throws Exception {
    byte[] buffer = new byte[256 << 10];
    requirePassWithoutGet(
        3,
        (in, random) -> {
          for (int i = 0; i < 4; i++) {
            int at = random.nextInt(OBJECT_BYTES - buffer.length);
            in.readFullyAt(at, buffer, 0, buffer.length);
            requireRight(buffer, buffer.length, at);
          }
        });
  }

  @Slow
  @Test
  void ofRandomReadsOneInEightIsWrittenAtFirstSight() throws Exception {
    byte[] buffer = new byte[64 << 10];
    try (S3E engine = engine(disk(Scope.PRIVATE));
        S3EInputStream in = engine.open(OBJECT)) {
      Random random = new Random(Seed.draw());
      List<Integer> places = new ArrayList<>();
      for (int at = 0; at + (1 << 20) <= OBJECT_BYTES; at += 1 << 20) {
        places.add(at);
      }
      Collections.shuffle(places, random);
      for (int at : places) {
        in.readFullyAt(at, buffer, 0, buffer.length);
        requireRight(buffer, buffer.length, at);
      }
      settle(engine);
      long fetched = client.bytesAsked();
      assertThat(count(engine, Counter.OFFERED_BYTES))
          .as("%s", engine.metrics().disk().snapshot())
          .isBetween(fetched / 40, fetched / 3);
    }
  }

  private static long bytesOf(List<GetRequest> gets) {
    return gets.stream().mapToLong(get -> get.range().length()).sum();
  }

  @Slow
  @Test
  void backwardReadsAreFetchedOnce() throws Exception {
    byte[] buffer = new byte[1 << 20];
    requireSecondPassWithoutGet(
        (in, random) -> {
          for (int i = 0; i < 2; i++) {
            // The stream stands behind what was read last, or at its beginning.
            boolean isFirst = in.position() == 0;
            int at =
                isFirst ? OBJECT_BYTES - buffer.length : (int) in.position() - 2 * buffer.length;
            in.seek(at);
            requireRight(buffer, in.readNBytes(buffer, 0, buffer.length), at);
          }
        });
  }

  /**
   * Each read is of a place of its own, so that none of the first pass comes from disk: where that
   * is slow once, what follows is not written.
   */
  @Slow
  @Test
  void vectoredReadsAreFetchedOnce() throws Exception {
    int place = OBJECT_BYTES / READS / BLOCK * BLOCK;
    AtomicInteger reads = new AtomicInteger();
    requireSecondPassWithoutGet(
        (in, random) -> {
          List<ByteRange> ranges = new ArrayList<>();
          int start = reads.getAndIncrement() * 17 % READS * place;
          for (int i = 0; i < 6; i++) {
            start += random.nextInt(200_000);
            ranges.add(new ByteRange(start, start + 200_000));
            start += 200_000;
          }
          List<CompletableFuture<ByteBuffer>> results =
              in.readVectored(ranges, ByteBuffer::allocate, buffer -> {});
          for (int i = 0; i < ranges.size(); i++) {
            ByteBuffer got = results.get(i).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            requireRight(got.array(), got.remaining(), (int) ranges.get(i).start());
          }
        });
  }

  private static long fromDisk(S3E engine) {
    return count(engine, Counter.HIT_BYTES);
  }

  private static long of(S3E engine, EngineMetrics.Counter counter) {
    return engine.metrics().get(counter);
  }

  private S3E engineWithoutGuesses() throws IOException {
    S3EConfig.Builder rest = S3EConfig.DEFAULTS.toBuilder().blockBytes(BLOCK).prefetch(false);
    return engine(disk(Scope.PRIVATE), SMALL_LIMITS, SMALL_BYTES, rest);
  }

  /** A reader at random, by whom 33 MiB were read from their end on, and are on disk. */
  private S3EInputStream openAfterReadingBackward(S3E engine) throws IOException {
    byte[] buffer = new byte[1 << 20];
    S3EInputStream in = engine.open(OBJECT, OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM));
    for (int at = 32 << 20; at >= 0; at -= buffer.length) {
      in.readFullyAt(at, buffer, 0, buffer.length);
      settle(engine);
    }
    return in;
  }

  /** A buffer that threads of the cache may not write to is no fault of the disk's. */
  @Test
  void aBufferOfTheReadersOwnThreadBreaksNoDisk() throws Exception {
    byte[] buffer = new byte[1 << 20];
    try (S3E engine = engineWithoutGuesses();
        S3EInputStream in = openAfterReadingBackward(engine)) {
      ByteBuffer forReadingAlone = ByteBuffer.allocate(100_000).asReadOnlyBuffer();
      for (int i = 0; i < 5; i++) {
        int at = (30 << 20) - i * 200_000;
        assertThatThrownBy(() -> in.readFullyAt(at, forReadingAlone.clear()))
            .isInstanceOf(ReadOnlyBufferException.class);
      }
      assertThat(count(engine, Counter.READ_ERRORS)).isZero();
      long before = fromDisk(engine);
      in.readFullyAt(28 << 20, buffer, 0, 100_000);
      requireRight(buffer, 100_000, 28 << 20);
      assertThat(fromDisk(engine) - before).as("the disk is used").isEqualTo(100_000);
    }
  }

  /** A read of the disk is used byte for byte, whatever it brings beside. */
  @Test
  void whatComesFromDiskIsCountedOnce() throws Exception {
    byte[] buffer = new byte[1 << 20];
    try (S3E engine = engineWithoutGuesses();
        S3EInputStream in = openAfterReadingBackward(engine)) {
      // The first that were read have left the memory, but for single blocks at ends of reads.
      int there = 30 << 20;
      int gets = client.gets().size();
      long before = fromDisk(engine);
      long read = 0;
      for (int i = 0; i < 20; i++) {
        in.readFullyAt(there + i * 3_000L, buffer, 0, 3_000);
        requireRight(buffer, 3_000, there + i * 3_000);
        read += 3_000;
      }
      assertThat(fromDisk(engine) - before).as("short reads").isEqualTo(read);

      in.seek(there - (4 << 20));
      for (int i = 0; i < 180; i++) {
        in.readFully(buffer, 0, 5_000);
        requireRight(buffer, 5_000, there - (4 << 20) + i * 5_000);
        read += 5_000;
      }
      assertThat(fromDisk(engine) - before).as("of a moving position too").isEqualTo(read);

      List<ByteRange> ranges =
          List.of(
              ByteRange.ofLength(there - (8 << 20) + 7, 10_000),
              ByteRange.ofLength(there - (7 << 20), 900_000));
      List<CompletableFuture<ByteBuffer>> results =
          in.readVectored(ranges, ByteBuffer::allocate, released -> {});
      for (int i = 0; i < ranges.size(); i++) {
        ByteBuffer got = results.get(i).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        requireRight(got.array(), got.remaining(), (int) ranges.get(i).start());
        read += ranges.get(i).length();
      }
      assertThat(fromDisk(engine) - before).as("of ranges too").isEqualTo(read);
      assertThat(client.gets()).as("GETs").hasSize(gets);
      assertThat(of(engine, EngineMetrics.Counter.FETCHED_BYTES) + fromDisk(engine))
          .as("%s", engine.metrics().snapshot())
          .isEqualTo(
              of(engine, EngineMetrics.Counter.USED_BYTES)
                  + of(engine, EngineMetrics.Counter.WASTED_BYTES)
                  + of(engine, EngineMetrics.Counter.HELD_BYTES));
    }
  }

  private void requireNothingOffered(S3E engine) throws Exception {
    settle(engine);
    // A run is counted when it is over, which its last reader does not wait for.
    awaitTrue(
        "all that was fetched is counted as not worth it",
        () ->
            count(engine, Counter.NOT_ADMITTED_BYTES)
                == engine.metrics().get(EngineMetrics.Counter.FETCHED_BYTES));
    assertThat(count(engine, Counter.OFFERED_BYTES)).isZero();
  }

  @Slow
  @ParameterizedTest
  @EnumSource(
      value = ReadPolicy.class,
      names = {"ADAPTIVE", "SEQUENTIAL", "WHOLE_FILE"})
  void aScanIsNotWritten(ReadPolicy policy) throws Exception {
    try (S3E engine = engine(disk(Scope.PRIVATE))) {
      scan(engine, policy);
      requireNothingOffered(engine);
    }
  }

  @Test
  void aScanIsNotWrittenWhereSlotsAreLent() throws Exception {
    ClientLimits lending = new ClientLimits(BLOCK, 8, 0, REQUEST, 8, CLIENTS_BYTES);
    try (S3E engine = engine(disk(Scope.PRIVATE), lending)) {
      scan(engine, ReadPolicy.ADAPTIVE);
      requireNothingOffered(engine);
    }
  }

  private void readInPieces(S3EInputStream in, int from, int bytes) throws IOException {
    byte[] buffer = new byte[BLOCK];
    in.seek(from);
    for (int at = from; at < from + bytes; at += BLOCK) {
      requireRight(buffer, in.readNBytes(buffer, 0, BLOCK), at);
    }
  }

  /** Too few to be a scan for certain. */
  @Test
  void aFewReadsInOrderAreNotWritten() throws Exception {
    int split = 50 << 20;
    try (S3E engine = engine(disk(Scope.PRIVATE))) {
      for (int bytes : new int[] {BLOCK, 4 * BLOCK, 5 << 20}) {
        try (S3EInputStream in = engine.open(OBJECT)) {
          readInPieces(in, 0, bytes);
        }
      }
    }
    try (S3E engine = engine(disk(Scope.PRIVATE))) {
      ByteRange told = new ByteRange(split, split + (20 << 20));
      try (S3EInputStream in = engine.open(OBJECT, OpenOptions.DEFAULTS.withSplit(told))) {
        readInPieces(in, split, 4 << 20);
      }
      try (S3EInputStream in = engine.open(OBJECT)) {
        readInPieces(in, 80 << 20, 4 << 20);
      }
      settle(engine);
      assertThat(count(engine, Counter.OFFERED_BYTES)).isZero();
      assertThat(count(engine, Counter.NOT_ADMITTED_BYTES)).isGreaterThanOrEqualTo(8L << 20);
    }
  }

  @Test
  void whatAReaderReadInOrderBeforeItJumpedIsWritten() throws Exception {
    try (S3E engine = engine(disk(Scope.PRIVATE));
        S3EInputStream in = engine.open(OBJECT)) {
      readInPieces(in, 0, 2 << 20);
      settle(engine);
      assertThat(count(engine, Counter.OFFERED_BYTES)).as("while it may be a scan").isZero();

      readInPieces(in, 40 << 20, BLOCK);
      settle(engine);
      assertThat(count(engine, Counter.WRITTEN_BYTES)).isGreaterThanOrEqualTo(2L << 20);
    }
  }

  /** As Spark 3.5 reads footers, by a stream of their own. */
  @Test
  void whatWasReadAtTheEndAloneIsWritten() throws Exception {
    try (S3E engine = engine(disk(Scope.PRIVATE))) {
      byte[] buffer = new byte[100_000];
      try (S3EInputStream in = engine.open(OBJECT)) {
        in.readFullyAt(OBJECT_BYTES - 8, buffer, 0, 8);
        in.readFullyAt(OBJECT_BYTES - buffer.length, buffer, 0, buffer.length - 8);
      }
      // A reader has its bytes before the GET is over, and they are offered.
      awaitTrue(() -> count(engine, Counter.OFFERED_BYTES) >= buffer.length);
      settle(engine);
      assertThat(count(engine, Counter.WRITTEN_BYTES)).isGreaterThanOrEqualTo(buffer.length);
      assertThat(count(engine, Counter.NOT_ADMITTED_BYTES)).isZero();
    }
  }

  @Test
  void hybridWritesTheFrontOfAScan() throws Exception {
    long front = 8L << 20;
    for (ReadPolicy policy : List.of(ReadPolicy.SEQUENTIAL, ReadPolicy.ADAPTIVE)) {
      try (S3E engine = engine(disk(Scope.PRIVATE).mode(Mode.HYBRID).hybridBytes(front))) {
        scan(engine, policy);
        settle(engine);
        assertThat(count(engine, Counter.WRITTEN_BYTES)).as("%s", policy).isEqualTo(front);
      }
    }
  }

  @Test
  void aSharedCacheGetsAScanToo() throws Exception {
    try (S3E engine = engine(disk(Scope.HOST))) {
      scan(engine, ReadPolicy.ADAPTIVE);
      settle(engine);
      assertThat(count(engine, Counter.WRITTEN_BYTES)).isGreaterThan(OBJECT_BYTES * 9L / 10);
    }
  }

  @Slow
  @ParameterizedTest
  @EnumSource(
      value = ReadPolicy.class,
      names = {"ADAPTIVE", "SEQUENTIAL"})
  void aSecondScanIsWrittenAndAThirdReadFromDisk(ReadPolicy policy) throws Exception {
    try (S3E engine = engine(disk(Scope.PRIVATE))) {
      scan(engine, policy);
      scan(engine, policy);
      settle(engine);
      long fetched = client.bytesAsked();

      scan(engine, policy);

      assertThat(client.bytesAsked() - fetched).isLessThan(OBJECT_BYTES / 10);
      assertThat(count(engine, Counter.HIT_BYTES)).isGreaterThan(OBJECT_BYTES / 2);
    }
  }

  @Test
  void hybridWritesAllOfAnObjectThatIsShorterThanTheFront() throws Exception {
    long front = 2L * OBJECT_BYTES;
    try (S3E engine = ampleEngine(disk(Scope.PRIVATE).mode(Mode.HYBRID).hybridBytes(front))) {
      scan(engine, ReadPolicy.SEQUENTIAL);
      // A run offers its blocks when it ends, which may be after its last byte was read.
      awaitTrue(() -> count(engine, Counter.OFFERED_BYTES) == OBJECT_BYTES);
      settle(engine);
      assertThat(count(engine, Counter.WRITTEN_BYTES))
          .as("%s", engine.metrics().disk().snapshot())
          .isEqualTo(OBJECT_BYTES);
    }
  }

  /** Its reader will come to what the disk lacks, however much of it came from there. */
  @Test
  void aScanRunsAheadOfWhatIsOnDisk() throws Exception {
    int front = 16 << 20;
    OpenOptions told = OpenOptions.DEFAULTS.withPolicy(ReadPolicy.SEQUENTIAL);
    try (S3E engine = engine(disk(Scope.PRIVATE).mode(Mode.HYBRID).hybridBytes(front))) {
      scan(engine, ReadPolicy.SEQUENTIAL);
      settle(engine);
      int gets = client.gets().size();
      try (S3EInputStream in = engine.open(OBJECT, told)) {
        assertThat(in.readNBytes(front)).isEqualTo(Arrays.copyOf(CONTENT, front));
        assertThat(count(engine, Counter.HIT_BYTES)).isGreaterThan(front / 2);
        List<GetRequest> ahead = client.gets().subList(gets, client.gets().size());
        assertThat(ahead).anyMatch(get -> get.range().start() >= front);
      }
    }
  }

  @Test
  void hybridWritesTheFrontAlone() throws Exception {
    long front = 8L << 20;
    try (S3E engine = engine(disk(Scope.PRIVATE).mode(Mode.HYBRID).hybridBytes(front))) {
      toAndFro(engine);
      settle(engine);
      int gets = client.gets().size();

      toAndFro(engine);

      assertThat(count(engine, Counter.WRITTEN_BYTES)).isBetween(1L, front);
      List<GetRequest> second = client.gets().subList(gets, client.gets().size());
      assertThat(second.stream().mapToLong(get -> get.range().start()).min().orElseThrow())
          .isGreaterThanOrEqualTo(front);
    }
  }

  @Test
  void hybridEndsInsideOfARequest() throws Exception {
    long front = (8L << 20) + 3 * BLOCK + 1;
    try (S3E engine = engine(disk(Scope.PRIVATE).mode(Mode.HYBRID).hybridBytes(front))) {
      toAndFro(engine);
      settle(engine);

      assertThat(count(engine, Counter.WRITTEN_BYTES)).isBetween(front - BLOCK, front + BLOCK);
    }
  }

  @Test
  @Slow
  void aBlockOfWhichAnotherProcessHasWrittenAPartIsFetched() throws Exception {
    int large = 1 << 20;
    try (S3E engine = engine(disk(Scope.HOST));
        S3EInputStream in =
            engine.open(OBJECT, OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM))) {
      byte[] chunk = new byte[BLOCK];
      for (int at = 0; at + BLOCK <= OBJECT_BYTES; at += large) {
        in.readFullyAt(at, chunk, 0, BLOCK);
      }
      settle(engine);
      assertThat(count(engine, Counter.WRITTEN_BYTES)).isPositive();
    }
    ClientLimits limits = ClientLimits.copying(large, 16, CLIENTS_BYTES);
    try (S3E engine =
        engine(
            disk(Scope.HOST),
            limits,
            MEMORY_BYTES,
            S3EConfig.DEFAULTS.toBuilder().blockBytes(large))) {
      scan(engine, ReadPolicy.SEQUENTIAL);
    }
  }

  @Test
  void aChangedObjectIsNotTakenFromDisk() throws Exception {
    try (S3E engine = engine(disk(Scope.PRIVATE))) {
      toAndFro(engine);
      settle(engine);
      long hits = count(engine, Counter.HITS);
      byte[] other = MemoryObjectClient.bytes(OBJECT_BYTES, 8);
      client.put(OBJECT, other, "\"v2\"");

      try (S3EInputStream in = engine.open(OBJECT)) {
        assertThat(Arrays.equals(in.readAllBytes(), other)).isTrue();
      }
      assertThat(count(engine, Counter.HITS)).isEqualTo(hits);
    }
  }

  @Test
  void customersKeysKeepBytesOffTheDisk() throws Exception {
    OpenOptions withKey =
        OpenOptions.DEFAULTS.withHeaders(
            Map.of("x-amz-server-side-encryption-customer-key", "secret"));
    try (S3E engine = engine(disk(Scope.HOST))) {
      for (int round = 0; round < 2; round++) {
        try (S3EInputStream in = engine.open(OBJECT, withKey)) {
          assertThat(Arrays.equals(in.readAllBytes(), CONTENT)).isTrue();
        }
      }
      settle(engine);

      assertThat(count(engine, Counter.WRITES)).isZero();
      assertThat(dataFiles()).allSatisfy(file -> assertThat(file).isEmptyFile());
    }
  }

  @Test
  void anotherEngineOfTheHostReadsWhatWasFetchedOnceItsOwnGetWasAnswered() throws Exception {
    try (S3E engine = ampleEngine(disk(Scope.HOST))) {
      scan(engine, ReadPolicy.SEQUENTIAL);
      settle(engine);
      assertThat(client.bytesAsked()).isBetween((long) OBJECT_BYTES, OBJECT_BYTES + (1L << 20));
    }
    try (S3E engine = engine(disk(Scope.HOST))) {
      // Guesses of a scan would be sent beside its first GET, the more the later that is answered.
      try (S3EInputStream in =
          engine.open(OBJECT, OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM))) {
        in.readFullyAt(0, new byte[1], 0, 1);
      }
      scan(engine, ReadPolicy.SEQUENTIAL);

      assertThat(client.gets())
          .as("its own GET, and what was not written; %s", engine.metrics().disk().snapshot())
          .hasSizeBetween(1, 4);
      assertThat(client.bytesAsked()).isLessThan(OBJECT_BYTES / 10);
      assertThat(count(engine, Counter.HIT_BYTES)).isGreaterThan(OBJECT_BYTES * 9L / 10);
    }
  }

  @Test
  void theSameWithSlotsThatAreLent() throws Exception {
    ClientLimits lending = new ClientLimits(BLOCK, 8, 0, REQUEST, 8, CLIENTS_BYTES);
    try (S3E engine = engine(disk(Scope.HOST), lending)) {
      scan(engine, ReadPolicy.SEQUENTIAL);
      settle(engine);
    }
    try (S3E engine = engine(disk(Scope.HOST), lending)) {
      scan(engine, ReadPolicy.SEQUENTIAL);

      assertThat(client.bytesAsked()).isLessThan(OBJECT_BYTES / 10);
    }
  }

  /** What both want at the same moment both may fetch; what one has written nobody fetches. */
  @Test
  @Slow
  void enginesAtOnceFetchWhatBothBeganAndLaterOnesNothing() throws Exception {
    // Scans have a fifth of it.
    DiskCacheConfig.Builder large = disk(Scope.HOST).capacityBytes(4L << 30);
    try (S3E first = engine(large)) {
      MemoryObjectClient firstClient = client;
      try (S3E second = engine(large)) {
        MemoryObjectClient secondClient = client;
        Thread other = new Thread(() -> scanUnchecked(second));
        other.start();
        scan(first, ReadPolicy.SEQUENTIAL);
        other.join(PATIENCE.toMillis());

        assertThat(other.isAlive()).isFalse();
        assertThat(firstClient.bytesAsked()).isLessThanOrEqualTo(OBJECT_BYTES);
        assertThat(secondClient.bytesAsked()).isLessThanOrEqualTo(OBJECT_BYTES);
        settle(first);
        settle(second);
      }
    }
    try (S3E later = engine(large)) {
      scan(later, ReadPolicy.SEQUENTIAL);
      assertThat(client.bytesAsked())
          .as("its own GET, and what was not written; %s", later.metrics().disk().snapshot())
          .isLessThan(OBJECT_BYTES / 10);
    }
  }

  private void scanUnchecked(S3E engine) {
    try {
      scan(engine, ReadPolicy.SEQUENTIAL);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> all = Files.walk(directory)) {
      return all.filter(Files::isRegularFile).toList();
    }
  }

  private List<Path> dataFiles() throws IOException {
    return files().stream().filter(file -> file.toString().endsWith(".region")).toList();
  }
}
