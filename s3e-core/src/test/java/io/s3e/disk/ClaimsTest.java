package io.s3e.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.disk.DiskCacheConfig.Scope;
import io.s3e.disk.FaultyDiskIo.Failure;
import io.s3e.disk.FaultyDiskIo.Operation;
import io.s3e.testing.Eventually;
import io.s3e.testing.ForkedJvm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who fetches: one at a time, and somebody, whoever dies. */
class ClaimsTest {
  private static final DiskBlockId BLOCK = Chunks.block("object", 1 << 20, 0);

  @TempDir Path directory;

  private final FaultyDiskIo disk = new FaultyDiskIo(new NioDiskIo());
  private long nanos = Long.MAX_VALUE - 5;
  private long millis = 1_000_000;
  private CacheRoot root;
  private Claims one;
  private Claims two;

  @BeforeEach
  void open() throws IOException {
    root = CacheRoot.open(directory, CacheTenant.config(directory, Scope.HOST, 64 << 20));
    one = new Claims(disk, root, () -> nanos, () -> millis);
    two = new Claims(disk, root, () -> nanos, () -> millis);
  }

  @AfterEach
  void close() {
    disk.heal();
    root.close();
  }

  private void pass(Duration time) {
    nanos += time.toNanos();
    millis += time.toMillis();
  }

  private Path file() {
    return root.claims().resolve(BlockFiles.nameOf(BLOCK));
  }

  @Test
  void twoClaimantsOfOneJvmAreTwo() throws IOException {
    Claim claim = one.tryClaim(BLOCK);
    assertThat(claim).isNotNull();
    assertThat(two.tryClaim(BLOCK)).isNull();
    assertThat(one.tryClaim(BLOCK)).isNull();
    one.release(claim);
    assertThat(file()).doesNotExist();
    assertThat(two.tryClaim(BLOCK)).isNotNull();
    one.release(claim);
    assertThat(file()).as("released twice, and not one's own any more").exists();
  }

  @Test
  void aClaimExpires() throws IOException {
    Claim late = one.tryClaim(BLOCK);
    pass(Claims.EXPIRY);
    assertThat(two.tryClaim(BLOCK)).isNull();
    pass(Duration.ofMillis(60));
    Claim next = two.tryClaim(BLOCK);
    assertThat(next).isNotNull();
    one.release(late);
    assertThat(file()).as("another's by now").hasContent(next.content().trim());
    two.release(next);
    assertThat(file()).doesNotExist();
  }

  @Test
  void aLateReleaseDeletesItsOwnClaim() throws IOException {
    Claim late = one.tryClaim(BLOCK);
    pass(Duration.ofSeconds(20));
    one.release(late);
    assertThat(file()).doesNotExist();
  }

  @Test
  void aClaimFromTheFutureExpiresToo() throws IOException {
    assertThat(one.tryClaim(BLOCK)).isNotNull();
    millis -= Duration.ofHours(1).toMillis();
    assertThat(two.tryClaim(BLOCK)).isNotNull();
  }

  @Test
  void pollingOnlyReadsTheClaim() throws IOException {
    Claim claim = one.tryClaim(BLOCK);
    long created = disk.count(Operation.CREATE);
    for (int i = 0; i < 100; i++) {
      assertThat(two.tryClaim(BLOCK)).isNull();
    }
    assertThat(disk.count(Operation.CREATE)).isEqualTo(created);
    assertThat(disk.count(Operation.LIST)).isZero();
    one.release(claim);
    assertThat(two.tryClaim(BLOCK)).isNotNull();
    assertThat(root.tmp()).isEmptyDirectory();
  }

  @Test
  void aClaimIsWholeFromItsFirstMomentOn() throws IOException {
    // Whoever is killed here leaves a temporary, which is swept, and no claim.
    disk.failNth(Operation.CREATE, 2, Failure.EIO);
    assertThatThrownBy(() -> one.tryClaim(BLOCK)).hasMessageContaining("Input/output error");
    assertThat(file()).doesNotExist();
    assertThat(root.tmp()).isEmptyDirectory();
  }

  @Test
  void theClaimOfAKilledProcessIsTakenOver() throws Exception {
    try (ForkedJvm process = ForkedJvm.start(CacheTenant.class, directory.toString(), "HOST")) {
      assertThat(process.await("claim")).isEqualTo("taken");
      process.await("owner");
      Claims claims = new Claims(new NioDiskIo(), root);
      assertThat(claims.tryClaim(CacheTenant.CLAIMED)).isNull();
      process.kill();
      // 200 ms until it forgets that the owner lived.
      Eventually.awaitTrue(
          "the claim is taken over", () -> claims.tryClaim(CacheTenant.CLAIMED) != null);
    }
  }

  @Test
  void whatIsNoClaimIsLeftToTheJanitor() throws IOException {
    Files.writeString(file(), "");
    pass(Duration.ofMinutes(2));
    assertThat(one.tryClaim(BLOCK)).isNull();
    millis = System.currentTimeMillis();
    one.removeStale();
    assertThat(file()).as("it may be one that is just being written").exists();
    millis += Claims.EXPIRY.toMillis() + 1000;
    one.removeStale();
    assertThat(file()).doesNotExist();
    assertThat(one.tryClaim(BLOCK)).isNotNull();
  }

  @Test
  void aNameThatIsNoOwnersIsNotLookedUp() throws IOException {
    Files.writeString(file(), "../../../etc/passwd 1 " + millis + "\n");
    assertThat(one.tryClaim(BLOCK)).isNull();
    Files.writeString(file(), "12-ab 1 " + millis + "\n");
    pass(Duration.ofMillis(60));
    assertThat(one.tryClaim(BLOCK)).isNotNull();
  }

  @Test
  void theDirectoryIsMadeAgain() throws IOException {
    Files.delete(root.claims());
    assertThat(one.tryClaim(BLOCK)).isNotNull();
    Leavings.remove(root.instance());
    assertThat(two.tryClaim(BLOCK)).isNotNull();
  }

  @Test
  void aClaimThatCannotBeWrittenIsNone() throws IOException {
    disk.failEvery(Operation.WRITE, Failure.ENOSPC);
    assertThatThrownBy(() -> one.tryClaim(BLOCK)).isInstanceOf(IOException.class);
    assertThat(file()).doesNotExist();
    disk.heal();
    Claim claim = one.tryClaim(BLOCK);
    disk.failEvery(Operation.DELETE, Failure.EROFS);
    one.release(claim);
    assertThat(file()).as("left to expire").exists();
    disk.heal();
    pass(Claims.EXPIRY.plusMillis(60));
    assertThat(one.tryClaim(BLOCK)).isNotNull();
  }

  @Test
  void ofManyThatTakeOverADeadClaimOneGetsIt() throws Exception {
    for (int round = 0; round < 50; round++) {
      DiskBlockId id = Chunks.block("round " + round, 1 << 20, 0);
      Files.writeString(
          root.claims().resolve(BlockFiles.nameOf(id)), "1-00000000000000ff 1 " + millis + "\n");
      AtomicInteger taken = new AtomicInteger();
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        Claims claims = new Claims(disk, root, () -> nanos, () -> millis);
        threads.add(
            new Thread(
                () -> {
                  try {
                    if (claims.tryClaim(id) != null) {
                      taken.incrementAndGet();
                    }
                  } catch (IOException e) {
                    throw new UncheckedIOException(e);
                  }
                }));
      }
      threads.forEach(Thread::start);
      for (Thread thread : threads) {
        thread.join(30_000);
      }
      assertThat(taken.get()).as("round %d", round).isEqualTo(1);
    }
  }
}
