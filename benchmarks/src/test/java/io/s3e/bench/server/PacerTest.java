// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.testing.Seed;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PacerTest {

  private static final long MILLI = 1_000_000;
  private static final long CATCH_UP = 9 * MILLI;

  @Test
  void chunkIsDueWhenItsLastByteWouldHaveArrived() {
    Pacer pacer = new Pacer(1_000_000, CATCH_UP, 0);

    assertThat(pacer.delayBefore(10_000, 0)).isEqualTo(10 * MILLI);
    assertThat(pacer.delayBefore(10_000, 10 * MILLI)).isEqualTo(10 * MILLI);
  }

  @Test
  void anOversleepIsMadeUp() {
    Pacer pacer = new Pacer(1_000_000, CATCH_UP, 0);
    pacer.delayBefore(10_000, 0);

    assertThat(pacer.delayBefore(10_000, 13 * MILLI)).isEqualTo(7 * MILLI);
  }

  @Test
  void aLongPauseIsNotMadeUpBeyondTheAllowance() {
    Pacer pacer = new Pacer(1_000_000, CATCH_UP, 0);
    pacer.delayBefore(10_000, 0);

    assertThat(pacer.delayBefore(20_000, 5_000 * MILLI)).isEqualTo(20 * MILLI - CATCH_UP);
  }

  @Test
  void unlimitedNeverWaits() {
    assertThat(new Pacer(0, CATCH_UP, 0).delayBefore(Long.MAX_VALUE / 2, 0)).isZero();
  }

  @Test
  void totalDoesNotDependOnHowTheBodyIsCut() {
    long seed = Seed.draw();
    Random random = new Random(seed);
    Pacer pacer = new Pacer(60_000_000, CATCH_UP, 0);
    long now = 0;
    long left = 8 << 20;
    while (left > 0) {
      long piece = Math.min(left, 1 + random.nextInt(300_000));
      now += Math.max(0, pacer.delayBefore(piece, now));
      left -= piece;
    }
    double ideal = (8 << 20) / 60e6 * 1e9;
    assertThat((double) now).as("seed %d", seed).isBetween(ideal * 0.9999, ideal * 1.0001);
  }
}
