// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import static io.s3e.fetch.FetchRig.BLOCK;
import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ByteRange;
import io.s3e.fault.GetTimes;
import io.s3e.memory.Purpose;
import io.s3e.testing.Pause;
import io.s3e.testing.Slow;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How long the GETs of a run may be silent, one after the other. */
class AttemptPatienceTest {
  /** A store that has been quick, and now takes half a minute to its first byte. */
  @Test
  void aReaderWaitsLongerForEachGetThatIsSentAgainUpToThePatienceOfTheRun() throws Exception {
    try (FetchRig rig = FetchRig.copying(8)) {
      for (int i = 0; i < 100; i++) {
        rig.tenant.store.times().took(BLOCK, Duration.ofMillis(10).toNanos());
      }
      rig.requireRight(rig.read(rig.open(), 0), 0);
      long before = 0;
      for (int number = 1; number <= 12; number++) {
        Attempt attempt = attempt(rig, number);
        long awaited = attempt.patienceNanos(true);
        long most = attempt.patienceNanos(false);
        assertThat(awaited).as("attempt %d", number).isEqualTo(Math.min(most, longer(before)));
        before = awaited;
        assertThat(attempt.overtaken(() -> {})).isTrue();
      }
      assertThat(before).isEqualTo(rig.tenant.config.stallTimeout().toNanos() << 4);
    }
  }

  /** It says nothing of the store, of which readers would expect as little for a long time. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  @Slow
  void aGetThatWasUnderWayWhileNothingRanIsNotCounted(boolean endsAtOnce) throws Exception {
    try (FetchRig rig = FetchRig.copying(8)) {
      GetTimes times = rig.tenant.store.times();
      for (int i = 0; i < 100; i++) {
        times.took(BLOCK, Duration.ofMillis(10).toNanos());
      }
      long patience = times.patienceNanos(BLOCK);
      long late = times.lateNanos(BLOCK);
      CountDownLatch mayAnswer = rig.client.holdAnswers();
      List<CompletableFuture<byte[]>> reads =
          IntStream.range(0, 8)
              .mapToObj(block -> FetchRig.async(() -> rig.read(rig.open(), block)))
              .toList();
      awaitTrue("all are sent", () -> rig.client.gets().size() == 8);
      CountDownLatch runs = new CountDownLatch(1);
      AtomicInteger ticks = new AtomicInteger();
      rig.tenant.timer.watch(
          (now, lateNanos) -> {
            try {
              runs.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
            ticks.incrementAndGet();
          });
      Pause.millis(1_500, "its timer stands still as all threads would");
      if (endsAtOnce) {
        mayAnswer.countDown();
      } else {
        runs.countDown();
        awaitTrue("the timer goes on", () -> ticks.get() > 2);
        mayAnswer.countDown();
      }
      for (int block = 0; block < 8; block++) {
        rig.requireRight(reads.get(block).get(30, TimeUnit.SECONDS), block);
      }
      runs.countDown();
      assertThat(times.patienceNanos(BLOCK)).isEqualTo(patience);
      assertThat(times.lateNanos(BLOCK)).isEqualTo(late);
    }
  }

  private static long longer(long before) {
    return before == 0 ? Duration.ofMillis(700).toNanos() : 2 * before;
  }

  private static Attempt attempt(FetchRig rig, int number) {
    ObjectHandle handle = rig.open();
    Body.Destination nowhere =
        new Body.Destination() {
          @Override
          public void endsAt(long offset) {}

          @Override
          public void put(int ahead, ByteBuffer chunk) {}

          @Override
          public void filled(int count) {}
        };
    return new Attempt(
        null,
        nowhere,
        rig.tenant,
        handle,
        rig.tenant.gate(handle.version.object()),
        new ByteRange(0, BLOCK),
        Purpose.DEMAND,
        number);
  }
}
