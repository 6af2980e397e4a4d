package io.s3e.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.disk.SharedClaims.Claimant;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two processes, or more, that are instances of {@link SharedClaims} on one file. */
class SharedClaimsTest {
  @TempDir Path directory;

  private final AtomicLong millis = new AtomicLong(1_000_000);
  private final List<SharedClaims> opened = new ArrayList<>();

  @AfterEach
  void close() throws IOException {
    for (SharedClaims each : opened) {
      each.close();
    }
  }

  /** A process, with objects of its own. */
  private final class Process {
    final StoredObjects objects = new StoredObjects();
    final SharedClaims claims;

    Process() throws IOException {
      claims = SharedClaims.open(new NioDiskIo(), directory, objects, millis::get);
      opened.add(claims);
    }

    StoredObject object(String key) {
      return objects.intern(
          StoredObject.of(
              "store",
              io.s3e.block.ObjectVersion.identified(
                  new io.s3e.block.ObjectRef("bucket", key), 100 << 20, "\"etag\"", null)));
    }

    Claimant claim(String key, int first, int end) throws IOException {
      return claims.claim(object(key), first, end);
    }

    int unclaimed(String key, int first, int end) throws IOException {
      claims.refresh();
      return claims.unclaimedFrom(object(key), first, end);
    }
  }

  @Test
  void oneFetchesAndTheOtherWaits() throws IOException {
    Process one = new Process();
    Process other = new Process();

    assertThat(one.claim("a", 4, 8)).isEqualTo(Claimant.THIS_PROCESS);
    assertThat(other.claim("a", 4, 8)).isEqualTo(Claimant.ANOTHER);
    assertThat(other.claim("a", 7, 20)).isEqualTo(Claimant.ANOTHER);
    assertThat(other.claim("b", 4, 8)).isEqualTo(Claimant.THIS_PROCESS);
    assertThat(other.claim("a", 8, 20)).isEqualTo(Claimant.THIS_PROCESS);
    assertThat(one.claim("a", 4, 8)).as("another thread").isEqualTo(Claimant.THIS_PROCESS);

    one.claims.ended(one.object("a"), 4, 8);
    assertThat(other.claim("a", 4, 8)).as("the thread's").isEqualTo(Claimant.ANOTHER);
    one.claims.ended(one.object("a"), 4, 8);
    assertThat(other.claim("a", 4, 8)).isEqualTo(Claimant.THIS_PROCESS);
  }

  @Test
  void saysWhatOthersDoNotFetch() throws IOException {
    Process one = new Process();
    Process other = new Process();
    assertThat(one.claim("a", 4, 8)).isEqualTo(Claimant.THIS_PROCESS);

    assertThat(other.unclaimed("a", 0, 3)).isEqualTo(3);
    assertThat(other.unclaimed("a", 0, 20)).isEqualTo(4);
    assertThat(other.unclaimed("a", 5, 20)).isZero();
    assertThat(other.unclaimed("a", 8, 20)).isEqualTo(12);
    assertThat(one.unclaimed("a", 0, 20)).as("its own").isEqualTo(20);
    millis.addAndGet(SharedClaims.LIFE_MILLIS + 1);
    assertThat(other.unclaimed("a", 0, 20)).isEqualTo(20);
  }

  @Test
  void agesOut() throws IOException {
    Process one = new Process();
    Process other = new Process();
    assertThat(one.claim("a", 0, 8)).isEqualTo(Claimant.THIS_PROCESS);
    millis.addAndGet(SharedClaims.LIFE_MILLIS);
    assertThat(other.claim("a", 0, 8)).isEqualTo(Claimant.ANOTHER);
    millis.addAndGet(1);
    assertThat(other.claim("a", 0, 8)).isEqualTo(Claimant.THIS_PROCESS);
    one.claims.ended(one.object("a"), 0, 8);
    assertThat(new Process().claim("a", 0, 8))
        .as("the other's goes on")
        .isEqualTo(Claimant.ANOTHER);
    millis.addAndGet(-SharedClaims.LIFE_MILLIS - 1);
    assertThat(one.claim("a", 0, 8)).as("from the future").isEqualTo(Claimant.THIS_PROCESS);
  }

  @Test
  void whatHasEndedIsForgottenOnce() throws IOException {
    Process one = new Process();
    Process other = new Process();
    assertThat(one.claim("a", 0, 8)).isEqualTo(Claimant.THIS_PROCESS);
    one.claims.ended(one.object("a"), 0, 8);
    millis.addAndGet(SharedClaims.LIFE_MILLIS);
    assertThat(one.claim("a", 0, 8)).isEqualTo(Claimant.THIS_PROCESS);
    assertThat(other.claim("a", 0, 8)).isEqualTo(Claimant.ANOTHER);
    millis.addAndGet(1);
    assertThat(other.claim("a", 0, 8)).as("the later one lives on").isEqualTo(Claimant.ANOTHER);
    millis.addAndGet(SharedClaims.LIFE_MILLIS);
    assertThat(other.claim("a", 0, 8)).isEqualTo(Claimant.THIS_PROCESS);
  }

  @Test
  void theFileIsCutOffBeforeItIsLong() throws IOException {
    Process one = new Process();
    Process other = new Process();
    Path file = SharedInstance.claimsOf(directory);
    long longest = 0;
    for (int i = 0; i < 20_000; i++) {
      assertThat(one.claim("a", i % 8, i % 8 + 1)).isEqualTo(Claimant.THIS_PROCESS);
      one.claims.ended(one.object("a"), i % 8, i % 8 + 1);
      longest = Math.max(longest, Files.size(file));
    }
    assertThat(longest).isBetween(SharedClaims.MOST_BYTES / 2, SharedClaims.MOST_BYTES + 1000);
    assertThat(one.claim("a", 0, 8)).isEqualTo(Claimant.THIS_PROCESS);
    assertThat(other.claim("a", 0, 8)).isEqualTo(Claimant.ANOTHER);
  }

  @Test
  void whatIsNoRecordIsPassedOver() throws IOException {
    Process one = new Process();
    Process other = new Process();
    Path file = SharedInstance.claimsOf(directory);
    assertThat(one.claim("a", 0, 8)).isEqualTo(Claimant.THIS_PROCESS);
    byte[] bytes = Files.readAllBytes(file);
    bytes[20] ^= 1;
    Files.write(file, bytes);
    assertThat(other.claim("a", 0, 8)).isEqualTo(Claimant.THIS_PROCESS);
    Files.write(file, new byte[100]);
    assertThat(other.claim("b", 0, 8)).isEqualTo(Claimant.THIS_PROCESS);
    assertThat(one.claim("b", 0, 8)).isIn(Claimant.THIS_PROCESS, Claimant.ANOTHER);
    assertThat(other.claim("c", 0, 8)).isEqualTo(Claimant.THIS_PROCESS);
    assertThat(one.claim("c", 0, 8)).as("in order again").isEqualTo(Claimant.ANOTHER);
  }

  @Test
  void ofManyThatClaimAtOnceOneHasIt() throws Exception {
    int processes = 4;
    int rounds = 500;
    ExecutorService threads = Executors.newFixedThreadPool(processes);
    CyclicBarrier barrier = new CyclicBarrier(processes);
    List<Future<List<Claimant>>> results = new ArrayList<>();
    for (int i = 0; i < processes; i++) {
      Process process = new Process();
      results.add(
          threads.submit(
              () -> {
                List<Claimant> mine = new ArrayList<>();
                for (int round = 0; round < rounds; round++) {
                  barrier.await(30, TimeUnit.SECONDS);
                  mine.add(process.claim("object", round, round + 1));
                }
                return mine;
              }));
    }
    List<List<Claimant>> all = new ArrayList<>();
    for (Future<List<Claimant>> result : results) {
      all.add(result.get(60, TimeUnit.SECONDS));
    }
    threads.shutdown();
    for (int round = 0; round < rounds; round++) {
      int at = round;
      assertThat(all.stream().filter(each -> each.get(at) == Claimant.THIS_PROCESS).count())
          .as("round %d", round)
          .isEqualTo(1);
    }
  }
}
