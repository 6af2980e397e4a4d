package io.s3e.columnar;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.columnar.Ledger.Kind;
import org.junit.jupiter.api.Test;

class LedgerTest {
  private static final long MIB = 1 << 20;

  private final Ledger ledger = new Ledger();

  private void settle(int times, long used, long wasted) {
    for (int i = 0; i < times; i++) {
      ledger.settle(Kind.GROUP, used, wasted);
    }
  }

  @Test
  void aFifthOfTheGuessesMayBeWasted() {
    for (int period = 0; period < 10; period++) {
      settle(26, 100, 0);
      settle(6, 0, 100);
      assertThat(ledger.isOn(Kind.GROUP)).isTrue();
    }
    settle(6, 0, 100);
    assertThat(ledger.admits(Kind.GROUP)).isTrue();
    settle(1, 0, 100);
    assertThat(ledger.admits(Kind.GROUP)).isFalse();
    assertThat(ledger.admits(Kind.DICTIONARY)).as("another kind").isTrue();
  }

  @Test
  void aFifthOfTheBytesMayBeWasted() {
    settle(2, 9 * MIB, 6 * MIB);
    assertThat(ledger.isOn(Kind.GROUP)).isTrue();
    settle(1, 9 * MIB, 6 * MIB);
    assertThat(ledger.isOn(Kind.GROUP)).isFalse();
  }

  @Test
  void aPeriodThatHoldsForgetsWhatWasWasted() {
    for (int period = 0; period < 10; period++) {
      settle(1, 55 * MIB, 9 * MIB);
      assertThat(ledger.isOn(Kind.GROUP)).isTrue();
    }
  }

  @Test
  void oneStreamInSixteenProbesAndBringsItBack() {
    settle(7, 0, 100);
    int admitted = 0;
    for (int open = 0; open < 160; open++) {
      admitted += ledger.admits(Kind.GROUP) ? 1 : 0;
    }
    assertThat(admitted).isEqualTo(10);
    settle(1, 0, 100);
    assertThat(ledger.isOn(Kind.GROUP)).as("a probe that wasted").isFalse();
    settle(4, 100, 0);
    assertThat(ledger.isOn(Kind.GROUP)).isTrue();
    assertThat(ledger.admits(Kind.GROUP)).isTrue();
  }
}
