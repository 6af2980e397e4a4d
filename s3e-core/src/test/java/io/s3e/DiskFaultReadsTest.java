// SPDX-License-Identifier: Apache-2.0
package io.s3e;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.disk.DiskCacheConfig;
import io.s3e.disk.DiskCacheConfig.Mode;
import io.s3e.disk.DiskCacheConfig.Scope;
import io.s3e.disk.FailingDisk;
import io.s3e.metrics.DiskMetrics.Counter;
import io.s3e.stream.S3EInputStream;
import io.s3e.testing.DiskWrites;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.Slow;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every operation of the disk under the cache fails in every way, or hangs, while readers jump
 * about, by positioned reads, by short ones and by ranges: every byte is right, no read fails, and
 * none is held up for longer than the cache's deadline allows.
 */
@Timeout(180)
@Slow
class DiskFaultReadsTest {
  private static final int BLOCK = 64 << 10;
  private static final ObjectRef OBJECT = new ObjectRef("bucket", "key");

  /** Read only once the disk fails, so that there is something new to be written then. */
  private static final ObjectRef OTHER = new ObjectRef("bucket", "other");

  private static final long CLIENTS_BYTES = 16L << 20;
  private static final long MEMORY_BYTES = 32L << 20;
  private static final int OBJECT_BYTES = (24 << 20) + 4321;
  private static final int PIECE_BYTES = 200_000;
  private static final Duration DEADLINE = Duration.ofMillis(100);

  /**
   * Far more than the deadline and the pause between two looks at it, for a busy machine, and far
   * less than a hang lasts.
   */
  private static final Duration LONGEST_READ = Duration.ofSeconds(5);

  private static final byte[] CONTENT = MemoryObjectClient.bytes(OBJECT_BYTES, 11);

  @TempDir Path directory;

  static Stream<Arguments> faults() {
    return Stream.of(Scope.PRIVATE, Scope.HOST)
        .flatMap(scope -> FailingDisk.faults(scope).map(fault -> Arguments.of(scope, fault)));
  }

  /** With a capacity of 0 a cache asks for the space that there is when it opens. */
  private DiskCacheConfig.Builder disk(Scope scope) {
    return DiskCacheConfig.DEFAULTS.toBuilder()
        .mode(Mode.DISK)
        .scope(scope)
        .capacityBytes(256L << 20)
        .readDeadline(DEADLINE)
        .directories(List.of(directory));
  }

  private static MemoryObjectClient client() {
    MemoryObjectClient client =
        new MemoryObjectClient(ClientLimits.copying(8 * BLOCK, 16, CLIENTS_BYTES));
    client.put(OBJECT, CONTENT, "\"v1\"");
    client.put(OTHER, CONTENT, "\"v1\"");
    client.faults((request, number) -> MemoryObjectClient.Answer.GOOD.after(1));
    return client;
  }

  private static S3E open(
      S3EConfig config, MemoryBudget budget, MemoryObjectClient client, FailingDisk disk) {
    Engine engine = Engine.join(config, budget, Duration.ZERO);
    return S3E.create(config, engine, granted -> client, disk::open, System::nanoTime);
  }

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("faults")
  void noFaultReachesAReader(Scope scope, FailingDisk.Fault fault) throws Exception {
    MemoryObjectClient client = client();
    MemoryBudget budget = new MemoryBudget(MEMORY_BYTES);
    S3EConfig config = S3EConfig.DEFAULTS.toBuilder().diskCache(disk(scope).build()).build();
    Random random = new Random(5);
    try (FailingDisk failing = new FailingDisk();
        S3E engine = open(config, budget, client, failing)) {
      readAbout(engine, OBJECT, random, 110);
      DiskWrites.await(engine, LONGEST_READ);
      readAbout(engine, OBJECT, random, 60);
      assertThat(engine.metrics().disk().get(Counter.HITS)).as("hits without a fault").isPositive();

      long tried = failing.tried(fault);
      failing.begin(fault);
      long patience = System.nanoTime() + Duration.ofSeconds(30).toNanos();
      do {
        readAbout(engine, OBJECT, random, 30);
        readAbout(engine, OTHER, random, 30);
      } while (fault.isInTheWay(scope)
          && failing.tried(fault) == tried
          && System.nanoTime() - patience < 0);
      if (fault.isInTheWay(scope)) {
        assertThat(failing.tried(fault)).as("times that the fault was met").isGreaterThan(tried);
      }

      failing.heal();
      long hits = engine.metrics().disk().get(Counter.HITS);
      long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
      while (engine.metrics().disk().get(Counter.HITS) == hits
          && System.nanoTime() - deadline < 0) {
        readAbout(engine, OBJECT, random, 20);
      }
      assertThat(engine.metrics().disk().get(Counter.HITS))
          .as("hits once the disk works again")
          .isGreaterThan(hits);
    }
    assertThat(budget.reserved()).isZero();
  }

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("faults")
  void noFaultFromTheStartReachesAReader(Scope scope, FailingDisk.Fault fault) throws Exception {
    MemoryObjectClient client = client();
    MemoryBudget budget = new MemoryBudget(MEMORY_BYTES);
    S3EConfig config =
        S3EConfig.DEFAULTS.toBuilder().diskCache(disk(scope).capacityBytes(0).build()).build();
    Random random = new Random(6);
    try (FailingDisk failing = new FailingDisk()) {
      failing.begin(fault);
      try (S3E engine = open(config, budget, client, failing)) {
        readAbout(engine, OBJECT, random, 20);
        readAbout(engine, OBJECT, random, 20);
        if (fault.hangs()) {
          // To close waits longer for what hangs than a test should.
          failing.heal();
        }
      }
      failing.heal();
      awaitTrue("all memory given back", () -> budget.reserved() == 0);
    }
  }

  /** By positioned reads, by short ones of a moving position, and by ranges. */
  private void readAbout(S3E engine, ObjectRef object, Random random, int reads) throws Exception {
    byte[] buffer = new byte[PIECE_BYTES];
    try (S3EInputStream in = engine.open(object)) {
      for (int i = 0; i < reads; i++) {
        int at = random.nextInt(OBJECT_BYTES - PIECE_BYTES);
        long begin = System.nanoTime();
        switch (i % 4) {
          case 0 -> {
            in.seek(at);
            for (int done = 0; done < PIECE_BYTES; done += 4_000) {
              in.readFully(buffer, done, 4_000);
            }
          }
          case 1 -> readRanges(in, at, buffer);
          default -> in.readFullyAt(at, buffer, 0, PIECE_BYTES);
        }
        long nanos = System.nanoTime() - begin;
        assertThat(Arrays.equals(buffer, 0, PIECE_BYTES, CONTENT, at, at + PIECE_BYTES))
            .as("bytes at %d", at)
            .isTrue();
        assertThat(Duration.ofNanos(nanos)).as("read at %d", at).isLessThan(LONGEST_READ);
      }
    }
  }

  private static void readRanges(S3EInputStream in, int at, byte[] buffer) throws Exception {
    int half = PIECE_BYTES / 2;
    List<ByteRange> ranges =
        List.of(ByteRange.ofLength(at, half), ByteRange.ofLength(at + half, half));
    List<CompletableFuture<ByteBuffer>> results =
        in.readVectored(ranges, ByteBuffer::allocate, released -> {});
    int done = 0;
    for (CompletableFuture<ByteBuffer> result : results) {
      ByteBuffer range = result.get(2 * LONGEST_READ.toSeconds(), TimeUnit.SECONDS);
      range.get(buffer, done, half);
      done += half;
    }
  }

  /** What an application has back it may use for something else. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aRangeThatIsGivenUpLeavesItsBufferAloneHoweverLongTheDiskHangs(boolean endsEngine)
      throws Exception {
    MemoryObjectClient client = client();
    DiskCacheConfig patient = disk(Scope.PRIVATE).readDeadline(Duration.ofMinutes(1)).build();
    S3EConfig config = S3EConfig.DEFAULTS.toBuilder().prefetch(false).diskCache(patient).build();
    try (FailingDisk failing = new FailingDisk();
        S3E engine = open(config, new MemoryBudget(MEMORY_BYTES), client, failing)) {
      DiskWrites.await(engine, LONGEST_READ);
      readAbout(engine, OBJECT, new Random(5), 110);
      DiskWrites.await(engine, LONGEST_READ);
      // The memory is others' now.
      readAbout(engine, OTHER, new Random(6), 110);
      DiskWrites.await(engine, LONGEST_READ);

      FailingDisk.Fault hang =
          FailingDisk.faults(Scope.PRIVATE)
              .filter(fault -> fault.hangs() && fault.toString().startsWith("READ"))
              .findFirst()
              .orElseThrow();
      long tried = failing.tried(hang);
      failing.begin(hang);
      Random same = new Random(5);
      Queue<ByteBuffer> given = new ConcurrentLinkedQueue<>();
      Queue<ByteBuffer> back = new ConcurrentLinkedQueue<>();
      List<CompletableFuture<ByteBuffer>> results = new ArrayList<>();
      try (S3EInputStream in = engine.open(OBJECT)) {
        for (int i = 0; i < 20; i++) {
          ByteRange range = ByteRange.ofLength(same.nextInt(OBJECT_BYTES - PIECE_BYTES), 100_000);
          results.addAll(
              in.readVectored(
                  List.of(range),
                  length -> {
                    ByteBuffer buffer = ByteBuffer.allocate(length);
                    given.add(buffer);
                    return buffer;
                  },
                  back::add));
        }
        awaitTrue("the disk hangs with some of them", () -> failing.tried(hang) > tried);
        if (endsEngine) {
          engine.close();
          for (CompletableFuture<ByteBuffer> result : results) {
            Object unused = result.handle((bytes, failure) -> "over").get(10, TimeUnit.SECONDS);
          }
        }
      }
      for (CompletableFuture<ByteBuffer> result : results) {
        assertThat(result).isDone();
      }
      awaitTrue(
          "buffers of ranges that failed are given back",
          () ->
              back.size()
                  == given.size()
                      - results.stream().filter(each -> !each.isCompletedExceptionally()).count());
      assertThat(back).isNotEmpty();
      byte mark = 77;
      back.forEach(buffer -> Arrays.fill(buffer.array(), mark));
      failing.heal();
      if (!endsEngine) {
        readAbout(engine, OBJECT, new Random(5), 40);
      }
      for (ByteBuffer each : back) {
        for (byte one : each.array()) {
          assertThat(one).isEqualTo(mark);
        }
      }
    }
  }
}
