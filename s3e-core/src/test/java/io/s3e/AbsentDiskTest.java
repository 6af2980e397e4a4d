// SPDX-License-Identifier: Apache-2.0
package io.s3e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.disk.CacheKey;
import io.s3e.disk.DiskCache;
import io.s3e.disk.DiskCacheConfig;
import io.s3e.disk.DiskCacheConfig.Mode;
import io.s3e.disk.DiskCacheConfig.Scope;
import io.s3e.metrics.DiskMetrics;
import io.s3e.stream.S3EInputStream;
import io.s3e.testing.CapturedLog;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.Stranger;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Where there can be no cache on disk, a WARN says why and reads go on without it. */
@Timeout(60)
class AbsentDiskTest {
  private static final ObjectRef OBJECT = new ObjectRef("bucket", "key");
  private static final int SIZE = 300_000;
  private static final long MIB = 1L << 20;

  @TempDir Path temp;

  private final byte[] content = MemoryObjectClient.bytes(SIZE, 3);
  private Path directory;

  @BeforeEach
  void makeDirectory() throws IOException {
    directory = Files.createDirectory(temp.toRealPath().resolve("shared"));
    setMode(directory, 0755);
  }

  private static void setMode(Path path, int mode) throws IOException {
    Files.setAttribute(path, "unix:mode", mode);
  }

  private MemoryObjectClient client() {
    MemoryObjectClient client = new MemoryObjectClient(ClientLimits.copying(1 << 20, 4, 0));
    client.put(OBJECT, content, "\"v1\"");
    return client;
  }

  private DiskCacheConfig.Builder disk() {
    return DiskCacheConfig.DEFAULTS.toBuilder()
        .mode(Mode.DISK)
        .directories(List.of(directory))
        .capacityBytes(64 * MIB);
  }

  private S3E engine(DiskCacheConfig.Builder disk, long memoryBytes, EngineDisk.Opener opener) {
    S3EConfig config = S3EConfig.DEFAULTS.toBuilder().diskCache(disk.build()).build();
    Engine engine = Engine.join(config, new MemoryBudget(memoryBytes), Duration.ZERO);
    return S3E.create(config, engine, memory -> client(), opener, System::nanoTime);
  }

  private S3E engine(DiskCacheConfig.Builder disk) {
    return engine(disk, 64 * MIB, DiskCache::open);
  }

  private void assertReads(S3E engine) throws IOException {
    try (S3EInputStream in = engine.open(OBJECT)) {
      assertThat(in.readAllBytes()).isEqualTo(content);
    }
  }

  private void assertNone(DiskCacheConfig.Builder disk, String... said) throws IOException {
    try (CapturedLog log = new CapturedLog();
        S3E engine = engine(disk)) {
      assertReads(engine);
      awaitOpening(engine);
      assertReads(engine);
      assertThat(engine.diskUse()).isNull();
      assertThat(log.lines("WARN"))
          .hasSize(1)
          .first()
          .asString()
          .contains("No cache on local disk, in memory only: ")
          .contains(said);
    }
  }

  private void assertCaches(S3E engine) throws IOException {
    awaitOpening(engine);
    assertReads(engine);
    assertThat(engine.diskUse()).isNotNull();
  }

  private static void awaitOpening(S3E engine) {
    CountDownLatch known = new CountDownLatch(1);
    engine.whenDiskCacheIsOpen(known::countDown);
    try {
      assertThat(known.await(20, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** What another user can do in a directory that all may write, before this process comes. */
  private Path plant() throws IOException {
    Path planted = Files.createDirectory(directory.resolve("s3e-cache-" + user()));
    Files.writeString(planted.resolve("forged"), "forged");
    Stranger.give(planted.resolve("forged"), planted, directory);
    return planted;
  }

  private static String user() {
    return System.getProperty("user.name");
  }

  @Test
  void aPlantedCacheIsNotEntered() throws IOException {
    Path planted = plant();
    setMode(planted, 0700);
    setMode(directory, 0777);
    assertNone(disk().scope(Scope.HOST), directory.toString(), planted.toString(), "is owned by '");
    setMode(planted, 0777);
    assertNone(disk().scope(Scope.HOST), planted.toString(), "has the permissions rwxrwxrwx");
    assertThat(planted).isDirectoryContaining("glob:**/forged");
    assertThat(planted.toFile().list()).as("nothing was put there").hasSize(1);
  }

  @Test
  void aCacheThatAnotherUserCouldExchangeIsNotShared() throws IOException {
    setMode(directory, 0777);
    for (DiskCacheConfig.Builder disk :
        List.of(disk().scope(Scope.HOST), disk().scope(Scope.APP).application("job"))) {
      try (CapturedLog log = new CapturedLog();
          S3E engine = engine(disk)) {
        assertCaches(engine);
        assertThat(log.lines("WARN"))
            .hasSize(1)
            .first()
            .asString()
            .contains("is of this process alone", directory + ":", "has mode 0777", "sticky bit");
        assertThat(directory).isEmptyDirectory();
      }
    }
    setMode(directory, 01777);
    try (S3E engine = engine(disk().scope(Scope.HOST))) {
      assertCaches(engine);
    }
  }

  @Test
  void aDirectoryThatIsRefusedLeavesTheOthersInUse() throws IOException {
    Path good = Files.createDirectory(temp.resolve("good"));
    Files.delete(directory);
    Files.createFile(directory);
    try (CapturedLog log = new CapturedLog();
        S3E engine = engine(disk().directories(List.of(directory, good)))) {
      assertCaches(engine);
      assertThat(engine.diskUse().capacityBytes()).as("of the one").isEqualTo(64 * MIB);
      assertThat(log.lines("WARN"))
          .hasSize(1)
          .first()
          .asString()
          .contains("Nothing is cached in " + directory + ":", "it is not a directory");
    }
  }

  @Test
  void lessThanSixteenMebibytesAreNoCache() throws IOException {
    assertNone(
        disk().capacityBytes(16 * MIB - 1),
        directory.toString(),
        "would hold 16777215 bytes, its capacity as set; expected 16777216 or more");
    try (S3E engine = engine(disk().capacityBytes(16 * MIB))) {
      assertCaches(engine);
    }
  }

  @Test
  void theAutomaticCapacityIsTenGibibytesOrATwentiethOfWhatIsFree() throws IOException {
    long twentieth = directory.toFile().getUsableSpace() / 20;
    assumeTrue(twentieth > 64 * MIB, "skipped: the disk is nearly full");
    try (S3E engine = engine(disk().capacityBytes(0))) {
      assertCaches(engine);
      // Others use the disk as well.
      assertThat(engine.diskUse().capacityBytes())
          .isBetween(
              Math.min(10L << 30, twentieth - 32 * MIB), Math.min(10L << 30, twentieth + 32 * MIB));
    }
  }

  @Test
  void aBudgetThatIsTooSmallIsTold() throws IOException {
    try (CapturedLog log = new CapturedLog();
        S3E engine = engine(disk(), 4 * MIB, DiskCache::open)) {
      assertReads(engine);
      awaitOpening(engine);
      assertThat(log.lines("of the memory budget of 4194304"))
          .hasSize(1)
          .first()
          .asString()
          .contains("its buffers need");
    }
  }

  @Test
  void aThreadThatIsMissingIsToldOnceAndTheNextTenantTriesAgain() {
    AtomicInteger missing = new AtomicInteger(2);
    MemoryBudget budget = new MemoryBudget(64 * MIB);
    Executor thread =
        opening -> {
          if (missing.getAndDecrement() > 0) {
            throw new OutOfMemoryError("unable to create native thread");
          }
          opening.run();
        };
    DiskCacheConfig config = disk().build();
    try (CapturedLog log = new CapturedLog();
        EngineDisk disk = new EngineDisk(budget::tryReserve, budget, new DiskMetrics(), thread)) {
      assertThatCode(() -> disk.open(config, DiskCache::open)).doesNotThrowAnyException();
      assertThat(disk.open(config, DiskCache::open)).isCompletedWithValue(null);
      assertThat(disk.open(config, DiskCache::open).join()).isNotNull();
      assertThat(log.lines("WARN"))
          .singleElement()
          .asString()
          .contains("No cache on local disk, in memory only: ", "native thread");
    }
    assertThat(budget.reserved()).isZero();
  }

  /** A second tenant reads without a cache on disk, and one WARN says so. */
  private void assertSecondHasNone(S3EConfig first, S3EConfig second, String... said)
      throws IOException {
    MemoryBudget budget = new MemoryBudget(64 * MIB);
    try (CapturedLog log = new CapturedLog();
        S3E one = S3E.create(first, budget, memory -> client());
        S3E two = S3E.create(second, budget, memory -> client())) {
      assertCaches(one);
      awaitOpening(two);
      assertReads(two);
      assertThat(two.diskUse()).isNull();
      assertThat(log.lines("WARN")).hasSize(1).first().asString().contains(said);
    }
  }

  @Test
  void aTenantWhoseCacheIsOfAnotherScopeIsToldWhy() throws IOException {
    assertSecondHasNone(
        config(disk()),
        config(disk().scope(Scope.HOST)),
        directory.toString(),
        "(scope PRIVATE)",
        "(scope HOST) has none");
  }

  /** Bytes of a bucket that is to be encrypted never lie beside those that are not. */
  @Test
  void aTenantThatEncryptsHasNoCacheWhereNothingIsEncrypted() throws IOException {
    S3EConfig plain = config(disk());
    S3EConfig secret = config(disk().key(CacheKey.random()));
    assertSecondHasNone(plain, secret, "(scope PRIVATE),", "(scope PRIVATE, encrypted) has none");
    MemoryBudget other = new MemoryBudget(64 * MIB);
    try (S3E one = S3E.create(secret, other, memory -> client());
        S3E two = S3E.create(plain, other, memory -> client())) {
      assertCaches(one);
      assertCaches(two);
      assertThat(two.config().diskCache().key()).as("what is told of it").isNotNull();
    }
  }

  @Test
  void theConfigurationTellsOfTheCacheThatThereIs() throws IOException {
    Path refused = Files.createFile(temp.resolve("file"));
    MemoryBudget budget = new MemoryBudget(64 * MIB);
    DiskCacheConfig.Builder first = disk().directories(List.of(refused, directory));
    DiskCacheConfig.Builder second = disk().mode(Mode.HYBRID).directories(List.of(temp));
    try (S3E one = S3E.create(config(first), budget, memory -> client());
        S3E two = S3E.create(config(second), budget, memory -> client())) {
      assertCaches(one);
      assertCaches(two);
      assertThat(two.config().diskCache().directories()).containsExactly(directory);
      assertThat(two.config().diskCache().mode()).isEqualTo(Mode.HYBRID);
    }
  }

  private static S3EConfig config(DiskCacheConfig.Builder disk) {
    return S3EConfig.DEFAULTS.toBuilder().diskCache(disk.build()).build();
  }
}
