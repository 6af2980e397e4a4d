// SPDX-License-Identifier: Apache-2.0
package io.s3e.prefetch;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TableLedgerTest {
  private static final long MIB = 1 << 20;

  private final TableLedger ledger = new TableLedger();
  private final TableLedger.OfStream stream = opened();

  private TableLedger.OfStream opened() {
    TableLedger.OfStream opened = ledger.ofStream();
    boolean unused = opened.admits(GuessKind.GROUP);
    return opened;
  }

  private static void settle(TableLedger.OfStream by, int times, long used, long wasted) {
    for (int i = 0; i < times; i++) {
      by.settle(GuessKind.GROUP, used, wasted);
    }
  }

  /** The stream that may guess all the same, of those that open next. */
  private TableLedger.OfStream probe() {
    TableLedger.OfStream opened = opened();
    for (int i = 0; i < 16 && !opened.admits(GuessKind.GROUP); i++) {
      opened = opened();
    }
    return opened;
  }

  @Test
  void aFifthOfTheGuessesMayBeWasted() {
    for (int i = 0; i < 100; i++) {
      settle(stream, 17, 100, 0);
      settle(stream, 3, 0, 100);
    }
    assertThat(ledger.isOn(GuessKind.GROUP)).isTrue();
    settle(stream, 16, 0, 100);
    assertThat(ledger.isOn(GuessKind.GROUP)).isFalse();
    assertThat(stream.admits(GuessKind.DICTIONARY)).as("another kind").isTrue();
  }

  @Test
  void aFewWrongGuessesAreNothingBesideManyRightOnes() {
    settle(stream, 1_000, 100, 0);
    settle(stream, 7, 0, 100);
    assertThat(ledger.isOn(GuessKind.GROUP)).isTrue();
  }

  @Test
  void aKindThatIsWrongFromTheStartGoesOffSoon() {
    settle(stream, 6, 0, 100);
    assertThat(ledger.isOn(GuessKind.GROUP)).isTrue();
    settle(stream, 1, 0, 100);
    assertThat(ledger.isOn(GuessKind.GROUP)).isFalse();
  }

  @Test
  void aFifthOfTheBytesMayBeWasted() {
    settle(stream, 2, 9 * MIB, 6 * MIB);
    assertThat(ledger.isOn(GuessKind.GROUP)).isTrue();
    settle(stream, 1, 9 * MIB, 6 * MIB);
    assertThat(ledger.isOn(GuessKind.GROUP)).isFalse();
  }

  @Test
  void whatWasWastedLongAgoIsForgotten() {
    for (int i = 0; i < 100; i++) {
      settle(stream, 1, 55 * MIB, 9 * MIB);
    }
    assertThat(ledger.isOn(GuessKind.GROUP)).isTrue();
  }

  @Test
  void aStreamThatGuessesWronglyStopsAndCannotBringTheKindBack() {
    settle(stream, 7, 0, 100);
    assertThat(stream.admits(GuessKind.GROUP)).isFalse();
    settle(stream, 100, 100, 0);
    assertThat(ledger.isOn(GuessKind.GROUP)).as("guesses from before").isFalse();
  }

  @Test
  void ofWhatIsLeftAtTheEndOfAStreamTwoGuessesCount() {
    for (int i = 0; i < 3; i++) {
      TableLedger.OfStream next = opened();
      assertThat(next.admits(GuessKind.GROUP)).isTrue();
      next.ends();
      settle(next, 30, 0, MIB);
    }
    assertThat(ledger.isOn(GuessKind.GROUP)).as("six wasted").isTrue();
    TableLedger.OfStream again = opened();
    again.ends();
    assertThat(again.admits(GuessKind.GROUP)).as("it goes on").isTrue();
    settle(again, 1, 0, 100);
    assertThat(ledger.isOn(GuessKind.GROUP)).isFalse();
  }

  @Test
  void oneLongGuessThatIsLeftAtTheEndIsOneMistake() {
    stream.ends();
    settle(stream, 30, 0, 40 * MIB);
    assertThat(ledger.isOn(GuessKind.GROUP)).isTrue();
  }

  @Test
  void columnsThatTwoReadersLeaveOutOfTheirGroupAreGuessedNoMore() {
    for (int reader = 1; reader <= 2; reader++) {
      TableLedger.OfStream next = opened();
      next.ends();
      for (int i = 0; i < 30; i++) {
        next.settlePresent(GuessKind.GROUP, 0, 8 * MIB);
      }
      assertThat(ledger.isOn(GuessKind.GROUP)).isEqualTo(reader < 2);
    }
  }

  @Test
  void eighteenOfThirtyWrongGuessesOfEachStreamKeepAKindOff() {
    for (int i = 0; i < 160; i++) {
      TableLedger.OfStream next = opened();
      for (int guess = 0; guess < 30 && next.admits(GuessKind.GROUP); guess++) {
        settle(next, 1, guess % 5 < 2 ? 100 : 0, guess % 5 < 2 ? 0 : 100);
      }
    }
    assertThat(ledger.isOn(GuessKind.GROUP)).isFalse();
  }

  @Test
  void oneStreamInSixteenProbesAndBringsItBack() {
    settle(stream, 7, 0, 100);
    int admitted = 0;
    for (int open = 0; open < 160; open++) {
      admitted += opened().admits(GuessKind.GROUP) ? 1 : 0;
    }
    assertThat(admitted).isEqualTo(10);
    TableLedger.OfStream probe = probe();
    settle(probe, 1, 0, 100);
    settle(probe, 3, 100, 0);
    assertThat(ledger.isOn(GuessKind.GROUP)).as("a probe that wasted began anew").isFalse();
    settle(probe, 1, 100, 0);
    assertThat(ledger.isOn(GuessKind.GROUP)).isTrue();
    assertThat(stream.admits(GuessKind.GROUP)).as("a stream that was trusted before").isTrue();
  }
}
