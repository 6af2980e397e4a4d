// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import static io.s3e.testing.Eventually.awaitTrue;

import io.s3e.testing.Unsayable;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class FetchTimerTest {

  /** Without ticks no deadline of any tenant's would pass any more. */
  @Test
  void deadlinesAreLookedAtWhateverOneOfThemThrows() throws Exception {
    AtomicInteger thrown = new AtomicInteger();
    AtomicInteger ticks = new AtomicInteger();
    try (FetchTimer timer = new FetchTimer()) {
      timer.watch(
          (now, late) -> {
            thrown.incrementAndGet();
            throw new Unsayable();
          });
      timer.watch((now, late) -> ticks.incrementAndGet());
      awaitTrue("both are looked at again", () -> thrown.get() > 2 && ticks.get() > 2);
    }
  }
}
