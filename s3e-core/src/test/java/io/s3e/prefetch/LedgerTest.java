package io.s3e.prefetch;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LedgerTest {
  private static final long MIB = 1 << 20;

  private final Ledger ledger = Ledger.ofTable();

  private void settle(int times, long used, long wasted) {
    for (int i = 0; i < times; i++) {
      ledger.settle(GuessKind.GROUP, used, wasted);
    }
  }

  private boolean isOn(GuessKind kind) {
    return ledger.distrust(kind) == 0;
  }

  @Test
  void aFifthOfTheGuessesMayBeWasted() {
    for (int period = 0; period < 10; period++) {
      settle(26, 100, 0);
      settle(6, 0, 100);
      assertThat(isOn(GuessKind.GROUP)).isTrue();
    }
    settle(6, 0, 100);
    assertThat(ledger.admits(GuessKind.GROUP)).isTrue();
    settle(1, 0, 100);
    assertThat(ledger.admits(GuessKind.GROUP)).isFalse();
    assertThat(ledger.admits(GuessKind.DICTIONARY)).as("another kind").isTrue();
  }

  @Test
  void aFifthOfTheBytesMayBeWasted() {
    settle(2, 9 * MIB, 6 * MIB);
    assertThat(isOn(GuessKind.GROUP)).isTrue();
    settle(1, 9 * MIB, 6 * MIB);
    assertThat(isOn(GuessKind.GROUP)).isFalse();
  }

  @Test
  void aPeriodThatHoldsForgetsWhatWasWasted() {
    for (int period = 0; period < 10; period++) {
      settle(1, 55 * MIB, 9 * MIB);
      assertThat(isOn(GuessKind.GROUP)).isTrue();
    }
  }

  @Test
  void oneStreamInSixteenProbesAndBringsItBack() {
    settle(7, 0, 100);
    int admitted = 0;
    for (int open = 0; open < 160; open++) {
      admitted += ledger.admits(GuessKind.GROUP) ? 1 : 0;
    }
    assertThat(admitted).isEqualTo(10);
    settle(1, 0, 100);
    assertThat(isOn(GuessKind.GROUP)).as("a probe that wasted").isFalse();
    settle(4, 100, 0);
    assertThat(isOn(GuessKind.GROUP)).isTrue();
    assertThat(ledger.admits(GuessKind.GROUP)).isTrue();
  }

  @Test
  void eachPeriodThatWastesMakesAStreamTrustLessAndEachOtherMore() {
    Ledger stream = Ledger.ofStream(MIB);
    for (int periods = 1; periods <= 4; periods++) {
      stream.settle(GuessKind.WINDOW, 0, MIB / 4);
      assertThat(stream.distrust(GuessKind.WINDOW)).isEqualTo(Math.min(3, periods));
      assertThat(stream.failedPeriods(GuessKind.WINDOW)).isEqualTo(periods);
    }
    for (int periods = 1; periods <= 4; periods++) {
      stream.settle(GuessKind.WINDOW, MIB - MIB / 8, MIB / 8);
      assertThat(stream.distrust(GuessKind.WINDOW)).isEqualTo(Math.max(0, 3 - periods));
    }
    assertThat(stream.failedPeriods(GuessKind.WINDOW)).isEqualTo(4);
  }
}
