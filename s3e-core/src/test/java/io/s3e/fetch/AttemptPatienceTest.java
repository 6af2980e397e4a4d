// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import static io.s3e.fetch.FetchRig.BLOCK;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ByteRange;
import io.s3e.memory.Purpose;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.junit.jupiter.api.Test;

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
