// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.BlockRange;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.memory.Grant;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.metrics.StreamListener;
import java.util.HashSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A hedge that wins while something goes wrong, as where the heap is full: its memory and its place
 * are given back, once. {@link FetchRig#close} counts them.
 */
@Timeout(60)
class HedgeEndTest {
  private static final long LATE_NANOS = TimeUnit.SECONDS.toNanos(20);

  private static void hedge(FetchRig rig, RunFetch run) throws InterruptedException {
    awaitTrue(() -> Origin.of(run.blocks().get(0)).isAwaited());
    run.checkDeadline(System.nanoTime() + LATE_NANOS, 0);
    assertThat(rig.metrics.get(Counter.HEDGES)).isOne();
  }

  private static void answer(ScriptedClient.Call call, CountDownLatch won) throws Exception {
    try {
      call.answerWell();
    } catch (OutOfMemoryError e) {
      assertThat(e).as("what the client logs").hasMessage("as if");
    } finally {
      won.countDown();
    }
  }

  @Test
  void anErrorAfterItsBytesWereTakenGivesItsMemoryBackOnce() throws Exception {
    try (FetchRig rig = FetchRig.hedging(8)) {
      CountDownLatch won = new CountDownLatch(1);
      rig.client.script(
          (call, number) -> {
            if (number > 0) {
              answer(call, won);
            } else {
              won.await();
              call.fail(Kind.NETWORK);
            }
          });
      ObjectHandle handle = rig.open();
      Grant grant = rig.grant(handle, 1);
      RunFetch run =
          rig.run(
              handle,
              grant,
              new HashSet<>() {
                @Override
                public boolean remove(Object over) {
                  throw new OutOfMemoryError("as if");
                }
              },
              new BlockRange(0, 1));
      run.send();
      CompletableFuture<byte[]> reader = FetchRig.async(() -> rig.read(handle, 0));
      hedge(rig, run);
      rig.requireRight(reader.get(20, TimeUnit.SECONDS), 0);
      rig.client.awaitQuiet();
      // What the error kept from being done, which is not the hedge's.
      grant.leaveLane();
    }
  }

  /** The call that is inside ends it then, on its way out. */
  @Test
  void anErrorBeforeItsBytesAreTakenKeepsNothing() throws Exception {
    try (FetchRig rig = FetchRig.hedging(8)) {
      CountDownLatch inside = new CountDownLatch(1);
      CompletableFuture<Void> mayLeave = new CompletableFuture<>();
      AtomicBoolean thrown = new AtomicBoolean();
      ObjectHandle handle =
          rig.open(
              new StreamListener() {
                @Override
                public void onCount(Counter counter, long amount) {
                  if (counter == Counter.FETCHED_BYTES && amount == 100) {
                    inside.countDown();
                    mayLeave.join();
                  }
                }

                @Override
                public void onGetFinished(
                    long offset, long received, long nanos, @Nullable Exception failure) {
                  if (failure != null && thrown.compareAndSet(false, true)) {
                    throw new OutOfMemoryError("as if");
                  }
                }
              });
      rig.client.script(
          (call, number) -> {
            if (number > 0) {
              call.answerWell();
              mayLeave.complete(null);
              return;
            }
            call.head();
            try {
              call.data(0, 100);
            } catch (OutOfMemoryError e) {
              call.fail(Kind.REJECTED);
            }
          });
      RunFetch run = rig.run(handle, rig.grant(handle, 1), new HashSet<>(), new BlockRange(0, 1));
      run.send();
      CompletableFuture<byte[]> reader = FetchRig.async(() -> rig.read(handle, 0));
      inside.await();
      hedge(rig, run);
      rig.requireRight(reader.get(20, TimeUnit.SECONDS), 0);
      assertThat(thrown).isTrue();
    }
  }
}
