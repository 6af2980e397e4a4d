// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.OpenOptions;
import io.s3e.metrics.EngineMetrics;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.metrics.StreamListener;
import io.s3e.prefetch.ReadPolicy;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A guess that lands while its stream is closed is the first to go, and is wasted if it goes
 * unread: all of it.
 */
class AbandonedGuessTest {
  @RegisterExtension final EngineFixture s3e = EngineFixture.copying();

  @Test
  void aBlockThatIsPublishedDuringTheCloseIsNotHeld() throws Exception {
    s3e.put(256);
    CountDownLatch landing = new CountDownLatch(1);
    CountDownLatch closed = new CountDownLatch(1);
    StreamListener holdsTheFirst =
        new StreamListener() {
          @Override
          public void onCount(Counter counter, long amount) {
            if (counter != Counter.PREFETCHED_BYTES) {
              return;
            }
            landing.countDown();
            try {
              boolean unused = closed.await(10, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          }
        };
    OpenOptions options =
        OpenOptions.DEFAULTS.withPolicy(ReadPolicy.SEQUENTIAL).withListener(holdsTheFirst);
    try (S3EInputStream in = s3e.open(options)) {
      for (int i = 0; landing.getCount() > 0 && i < 64; i++) {
        in.readNBytes(1000);
      }
      assertThat(landing.await(10, TimeUnit.SECONDS)).as("a guess lands").isTrue();
    }
    closed.countDown();
    EngineMetrics metrics = s3e.engine.metrics();
    awaitTrue(
        "all that came is held or used",
        () ->
            metrics.get(Counter.FETCHED_BYTES)
                == metrics.get(Counter.USED_BYTES)
                    + metrics.get(Counter.WASTED_BYTES)
                    + metrics.get(Counter.HELD_BYTES));
    assertThat(metrics.get(Counter.HELD_BYTES)).isPositive();
    s3e.engine.close();
    assertThat(metrics.get(Counter.HELD_BYTES)).isZero();
    assertThat(metrics.get(Counter.PREFETCH_WASTED_BYTES))
        .isPositive()
        .isEqualTo(
            metrics.get(Counter.PREFETCHED_BYTES) - metrics.get(Counter.PREFETCH_USED_BYTES));
  }
}
