// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import static io.s3e.fetch.FetchRig.BLOCK;
import static io.s3e.fetch.FetchRig.async;
import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.client.ClientLimits;
import io.s3e.client.RequestFailure;
import io.s3e.metrics.StreamListener;
import io.s3e.testing.Pause;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Runs that have failed and wait to be sent again: for a place, or for a remedy. */
@Timeout(90)
@Tag("waits")
class PausedRunsTest {
  private static final int REFUSED = 3;

  /** A provider of credentials that hangs, for a stream that stays open. */
  @Test
  void aRunWhoseRemedyNeverComesEndsWithThePatienceOfItsReaders() throws Exception {
    try (FetchRig rig = FetchRig.impatient(8, Duration.ofMillis(300))) {
      List<Runnable> remedied = new CopyOnWriteArrayList<>();
      rig.client.whenRemedied = remedied::add;
      rig.client.script((call, number) -> call.fail(RequestFailure.Kind.CREDENTIALS));
      List<RunFetch> runs = new ArrayList<>();
      ObjectHandle open = rig.open();
      assertThatThrownBy(() -> rig.read(open, 0, 4, runs::add))
          .isInstanceOf(RequestFailure.class)
          .hasMessageContaining("CREDENTIALS");
      awaitTrue("the run is over", () -> runs.get(0).isOver());
      awaitTrue("its memory is free", () -> rig.account.heldBytes() == 0);
      assertThat(rig.index.get(runs.get(0).blocks().get(0).id())).isNull();

      // What comes late sends nothing; the next reader asks anew.
      remedied.forEach(Runnable::run);
      assertThat(rig.client.calls()).hasSize(1);
      rig.client.script((call, number) -> call.answerWell());
      rig.requireRight(rig.read(open, 0), 0);
    }
  }

  /** The first GET that is sent again has no pause: what ends its run may come just before. */
  @Test
  void aRunThatIsEndedBetweenTwoAttemptsSendsNoMore() throws Exception {
    try (FetchRig rig = FetchRig.impatient(8, Duration.ofSeconds(20))) {
      rig.client.script((call, number) -> call.fail(RequestFailure.Kind.NETWORK));
      List<RunFetch> runs = new CopyOnWriteArrayList<>();
      ObjectHandle open =
          rig.open(
              new StreamListener() {
                @Override
                public void onRetry(Exception failure) {
                  runs.get(0).cancel(new IOException("nobody wants it"));
                }
              });
      assertThatThrownBy(() -> rig.read(open, 0, 4, runs::add))
          .hasStackTraceContaining("nobody wants it");
      assertThat(rig.client.calls()).hasSize(1);
    }
  }

  /** While the gate is shut it takes whoever is next, who may have no place, in a loop. */
  @Slow
  @Test
  void theTimerGoesOnWhileTheGateIsShutAndNoRunHasAPlace() throws Exception {
    ClientLimits limits = new ClientLimits(BLOCK, 4, 1, 0, 0, 0);
    try (FetchRig rig = new FetchRig(16, 64, limits, 20_000)) {
      CountDownLatch hanging = new CountDownLatch(1);
      AtomicBoolean refuses = new AtomicBoolean(true);
      rig.client.script(
          (call, number) -> {
            if (call.request.object().key().startsWith("hanging")) {
              hanging.await();
              call.answerWell();
            } else if (refuses.get()) {
              call.fail(RequestFailure.Kind.THROTTLED);
            } else {
              call.answerWell();
            }
          });
      List<CompletableFuture<byte[]>> reads = new ArrayList<>();
      reads.add(async(() -> rig.read(rig.open("hanging-0"), 0)));
      Pause.millis(1_500, "the first leaves its place in the lane");
      reads.add(async(() -> rig.read(rig.open("hanging-1"), 0)));
      reads.add(async(() -> rig.read(rig.open("hanging-2"), 0)));
      awaitTrue(() -> rig.client.calls().size() == 3);
      for (int i = 0; i < REFUSED; i++) {
        String key = "refused-" + i;
        reads.add(async(() -> rig.read(rig.open(key), 0)));
      }
      for (int look = 0; look < 30; look++) {
        CountDownLatch ticked = new CountDownLatch(1);
        assertThat(rig.tenant.timer.later(ticked::countDown, 0)).isTrue();
        assertThat(ticked.await(5, TimeUnit.SECONDS)).as("look %d of the timer", look).isTrue();
        Pause.millis(100, "the gate shuts after a second");
      }
      refuses.set(false);
      hanging.countDown();
      for (CompletableFuture<byte[]> read : reads) {
        rig.requireRight(read.get(30, TimeUnit.SECONDS), 0);
      }
    }
  }
}
