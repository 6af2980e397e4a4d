// SPDX-License-Identifier: Apache-2.0
package io.s3e.prefetch;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LedgerTest {
  private static final long MIB = 1 << 20;

  @Test
  void eachPeriodThatWastesMakesAStreamTrustLessAndEachOtherMore() {
    Ledger stream = new Ledger(MIB);
    for (int periods = 1; periods <= 4; periods++) {
      stream.settle(GuessKind.WINDOW, 0, MIB / 4);
      assertThat(stream.distrust()).isEqualTo(Math.min(3, periods));
      assertThat(stream.failedPeriods()).isEqualTo(periods);
    }
    for (int periods = 1; periods <= 4; periods++) {
      stream.settle(GuessKind.WINDOW, MIB - MIB / 8, MIB / 8);
      assertThat(stream.distrust()).isEqualTo(Math.max(0, 3 - periods));
    }
    assertThat(stream.failedPeriods()).isEqualTo(4);
  }
}
