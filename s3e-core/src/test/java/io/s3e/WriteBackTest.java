// SPDX-License-Identifier: Apache-2.0
package io.s3e;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.disk.DiskCacheConfig;
import io.s3e.disk.DiskCacheConfig.Mode;
import io.s3e.disk.FailingDisk;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.DiskMetrics.Counter;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.stream.S3EInputStream;
import io.s3e.testing.DiskWrites;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.Seed;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Memory as a cache that is written back to disk, of an engine as a whole: readers come first, and
 * every byte that was offered is written or dropped for a reason.
 */
@Timeout(120)
class WriteBackTest {
  private static final int REQUEST = 512 << 10;
  private static final ObjectRef OBJECT = new ObjectRef("bucket", "key");
  private static final int OBJECT_BYTES = (64 << 20) + 777;
  private static final int PIECE_BYTES = 250_000;
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  /** Of it, 8 MiB are the client's and 3 MiB the disk's; a tenth of the object is left. */
  private static final long SMALL_BYTES = 18L << 20;

  private static final byte[] CONTENT = MemoryObjectClient.bytes(OBJECT_BYTES, 3);

  @TempDir Path directory;

  private final FailingDisk disk = new FailingDisk();
  private final Random random = new Random(Seed.draw());

  @AfterEach
  void heal() {
    disk.close();
  }

  private MemoryObjectClient client() {
    MemoryObjectClient client = new MemoryObjectClient(ClientLimits.copying(REQUEST, 4, 8L << 20));
    client.put(OBJECT, CONTENT, "\"v1\"");
    client.faults((request, number) -> MemoryObjectClient.Answer.GOOD.after(1));
    return client;
  }

  private S3E engine(MemoryBudget budget, MemoryObjectClient client) throws Exception {
    return engine(budget, client, 256L << 20);
  }

  private S3E engine(MemoryBudget budget, MemoryObjectClient client, long capacityBytes)
      throws Exception {
    DiskCacheConfig cache =
        DiskCacheConfig.DEFAULTS.toBuilder()
            .mode(Mode.DISK)
            .capacityBytes(capacityBytes)
            .readDeadline(Duration.ofSeconds(5))
            .directories(List.of(directory))
            .build();
    S3EConfig config = S3EConfig.DEFAULTS.toBuilder().store("memory").diskCache(cache).build();
    S3E engine =
        S3E.create(
            config,
            Engine.join(config, budget, Duration.ZERO),
            granted -> client,
            disk::open,
            System::nanoTime);
    DiskWrites.await(engine, PATIENCE);
    return engine;
  }

  private void readAbout(S3E engine, int reads) throws IOException {
    byte[] buffer = new byte[PIECE_BYTES];
    try (S3EInputStream in = engine.open(OBJECT)) {
      for (int i = 0; i < reads; i++) {
        int at = random.nextInt(OBJECT_BYTES - PIECE_BYTES);
        in.readFullyAt(at, buffer, 0, PIECE_BYTES);
        assertThat(Arrays.equals(buffer, 0, PIECE_BYTES, CONTENT, at, at + PIECE_BYTES))
            .as("bytes at %d", at)
            .isTrue();
      }
    }
  }

  private static void requireSums(DiskMetrics metrics) {
    assertThat(metrics.get(Counter.WRITTEN_BYTES) + DiskWrites.droppedBytes(metrics))
        .as("written and dropped, of what was offered; %s", metrics.snapshot())
        .isEqualTo(metrics.get(Counter.OFFERED_BYTES))
        .isPositive();
  }

  @Test
  @Slow
  void readersComeBeforeWhatIsStillToBeWritten() throws Exception {
    MemoryBudget budget = new MemoryBudget(SMALL_BYTES);
    MemoryObjectClient client = client();
    try (S3E engine = engine(budget, client)) {
      DiskMetrics metrics = engine.metrics().disk();
      disk.slowWrites(Duration.ofMillis(100));
      readAbout(engine, 150);
      assertThat(DiskWrites.droppedBytes(metrics))
          .as("dropped; %s", metrics.snapshot())
          .isPositive();
      disk.heal();
      DiskWrites.await(engine, PATIENCE);

      requireSums(metrics);
      assertThat(metrics.get(Counter.WRITTEN_BYTES)).as("of a slow disk").isPositive();
      readAbout(engine, 50);
      assertThat(metrics.get(Counter.HIT_BYTES)).isPositive();
      assertThat(metrics.get(Counter.CORRUPTIONS)).isZero();
    }
    assertThat(budget.reserved()).isZero();
  }

  /** What was given up on its way has not been fetched: a scan that comes later is the first. */
  @Test
  void aScanAfterGuessesThatNeverCameIsNotWritten() throws Exception {
    MemoryObjectClient client = client();
    try (S3E engine = engine(new MemoryBudget(SMALL_BYTES), client)) {
      client.faults((request, number) -> MemoryObjectClient.Answer.GOOD.silentAfter(0));
      OpenOptions scans = OpenOptions.DEFAULTS.withPolicy(ReadPolicy.SEQUENTIAL);
      try (S3EInputStream in = engine.open(OBJECT, scans)) {
        Thread reader = Thread.currentThread();
        CompletableFuture.delayedExecutor(500, TimeUnit.MILLISECONDS).execute(reader::interrupt);
        assertThatThrownBy(in::read).isInstanceOf(InterruptedIOException.class);
        assertThat(Thread.interrupted()).as("told on").isTrue();
      }
      assertThat(client.gets()).isNotEmpty();
      client.faults((request, number) -> MemoryObjectClient.Answer.GOOD);
      try (S3EInputStream in = engine.open(OBJECT, scans)) {
        assertThat(in.readAllBytes()).isEqualTo(CONTENT);
      }
      DiskWrites.await(engine, PATIENCE);
      DiskMetrics metrics = engine.metrics().disk();
      assertThat(metrics.get(Counter.OFFERED_BYTES)).as("%s", metrics.snapshot()).isZero();
    }
  }

  /** Read in turns, it would leave the cache each time before it is read again. */
  @Test
  @Slow
  void ofWhatIsMoreThanTheCacheHoldsAPartStays() throws Exception {
    int passes = 8;
    try (S3E engine =
        engine(new MemoryBudget(SMALL_BYTES), client(), DiskCacheConfig.LEAST_CAPACITY_BYTES)) {
      DiskMetrics metrics = engine.metrics().disk();
      long[] written = new long[passes];
      long[] hit = new long[passes];
      for (int pass = 0; pass < passes; pass++) {
        try (S3EInputStream in = engine.open(OBJECT)) {
          assertThat(in.readAllBytes()).isEqualTo(CONTENT);
        }
        DiskWrites.await(engine, PATIENCE);
        written[pass] = metrics.get(Counter.WRITTEN_BYTES);
        hit[pass] = metrics.get(Counter.HIT_BYTES);
      }
      String told = Arrays.toString(written) + Arrays.toString(hit);
      assertThat(hit[passes - 1]).as(told).isGreaterThan(DiskCacheConfig.LEAST_CAPACITY_BYTES);
      assertThat(written[passes - 1]).as(told).isLessThan(passes * (long) OBJECT_BYTES / 3);
    }
  }

  /** The memory that a write holds is as good as lost; all other is not. */
  @Test
  @Slow
  void aWriteThatHangsHoldsUpNoReader() throws Exception {
    MemoryBudget budget = new MemoryBudget(SMALL_BYTES);
    try (S3E engine = engine(budget, client())) {
      disk.hangWrites();
      readAbout(engine, 150);
      assertThat(disk.hanging()).isOne();
      disk.heal();
      DiskWrites.await(engine, PATIENCE);
      requireSums(engine.metrics().disk());
    }
    assertThat(budget.reserved()).isZero();
  }

  @Test
  void closeDropsWhatWaits() throws Exception {
    MemoryBudget budget = new MemoryBudget(64L << 20);
    DiskMetrics metrics;
    try (S3E engine = engine(budget, client())) {
      metrics = engine.metrics().disk();
      disk.hangWrites();
      readAbout(engine, 100);
      awaitTrue("a write hangs", () -> disk.hanging() == 1);
      assertThat(DiskWrites.droppedBytes(metrics)).as("%s", metrics.snapshot()).isZero();
      // What hangs goes on, and the writes that follow it take longer than is left.
      disk.slowWrites(Duration.ofMillis(100));
    }
    requireSums(metrics);
    assertThat(DiskWrites.droppedBytes(metrics)).as("%s", metrics.snapshot()).isPositive();
    assertThat(budget.reserved()).isZero();
  }

  @Test
  void closeWhileAWriteHangsGivesTheMemoryBackOnceItEnds() throws Exception {
    MemoryBudget budget = new MemoryBudget(64L << 20);
    DiskMetrics metrics;
    try (S3E engine = engine(budget, client())) {
      metrics = engine.metrics().disk();
      disk.hangWrites();
      readAbout(engine, 20);
      awaitTrue("a write hangs", () -> disk.hanging() == 1);
    }
    disk.heal();
    awaitTrue("all memory given back", () -> budget.reserved() == 0);
    awaitTrue(
        "all that was offered is counted",
        () ->
            metrics.get(Counter.WRITTEN_BYTES) + DiskWrites.droppedBytes(metrics)
                == metrics.get(Counter.OFFERED_BYTES));
    requireSums(metrics);
  }

  @Test
  @Slow
  void aDiskThatIsSlowerThanS3IsLeftAloneUntilItIsFasterAgain() throws Exception {
    MemoryObjectClient client = client();
    try (S3E engine = engine(new MemoryBudget(SMALL_BYTES), client)) {
      DiskMetrics metrics = engine.metrics().disk();
      readAbout(engine, 1_500);
      DiskWrites.await(engine, PATIENCE);
      disk.slowReads(Duration.ofMillis(100));
      readAbout(engine, 20);
      int gets = client.gets().size();
      long hits = metrics.get(Counter.HIT_BYTES);
      readAbout(engine, 40);
      assertThat(client.gets().size() - gets).as("%s", metrics.snapshot()).isGreaterThan(10);
      assertThat(metrics.get(Counter.HIT_BYTES) - hits).isLessThan(10L * PIECE_BYTES);
      assertThat(metrics.get(Counter.BREAKER_OPENED)).as("the disk works").isZero();

      disk.heal();
      awaitTrue(
          "asked again",
          () -> {
            long before = metrics.get(Counter.HIT_BYTES);
            readAbout(engine, 10);
            return metrics.get(Counter.HIT_BYTES) - before > 2L * PIECE_BYTES;
          });
    }
  }

  @Slow
  @Test
  void tenantsShareWhatIsOnDiskOnceS3HasAnsweredEach() throws Exception {
    // Little of the object is left in memory, which they share as well.
    MemoryBudget budget = new MemoryBudget(28L << 20);
    MemoryObjectClient one = client();
    MemoryObjectClient two = client();
    DiskMetrics metrics;
    try (S3E first = engine(budget, one)) {
      metrics = first.metrics().disk();
      try (S3E second = engine(budget, two)) {
        // What is read at random is written when it is fetched again.
        readAbout(first, 1_500);
        DiskWrites.await(first, PATIENCE);
        long hits = metrics.get(Counter.HIT_BYTES);
        readAbout(second, 200);

        assertThat(two.gets()).as("its own proof").isNotEmpty();
        assertThat(two.bytesAsked()).isLessThan(100L * PIECE_BYTES);
        assertThat(metrics.get(Counter.HIT_BYTES)).isGreaterThan(hits + 100L * PIECE_BYTES);
        disk.slowWrites(Duration.ofMillis(50));
      }
      // What the second had dirty went with it.
      disk.heal();
      readAbout(first, 100);
      DiskWrites.await(first, PATIENCE);
      requireSums(metrics);
      assertThat(metrics.get(Counter.CORRUPTIONS)).isZero();
    }
    assertThat(budget.reserved()).isZero();
  }
}
