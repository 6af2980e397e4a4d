// SPDX-License-Identifier: Apache-2.0
package io.s3e.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.fault.Gate.Outcome;
import io.s3e.fault.GateRate.WaiterKind;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The arithmetic of a gate, answer by answer. */
class GateRateTest {
  private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private final GateRate rate = new GateRate();
  private long now = 7 * SECOND;

  private void send(int count) {
    for (int i = 0; i < count; i++) {
      rate.sent(now);
    }
  }

  private void end(Outcome outcome, int count) {
    for (int i = 0; i < count; i++) {
      rate.ended(outcome, now);
    }
  }

  /** {@code count} requests one after the other, with as many in flight as before. */
  private void answer(Outcome outcome, int count) {
    for (int i = 0; i < count; i++) {
      rate.ended(outcome, now);
      rate.sent(now);
    }
  }

  private boolean demand() {
    return rate.pass(WaiterKind.DEMAND, now);
  }

  private boolean retry() {
    return rate.pass(WaiterKind.RETRY, now);
  }

  private int retries() {
    int count = 0;
    while (retry()) {
      count++;
    }
    return count;
  }

  /** 20 in flight, and then 20 throttles among a hundred answers, far between. */
  private void cut() {
    send(20);
    for (int i = 0; rate.limit() == Integer.MAX_VALUE; i++) {
      assertThat(i).as("hundredths").isLessThan(102);
      answer(i % 5 == 0 ? Outcome.THROTTLED : Outcome.ANSWERED, 1);
    }
  }

  @Test
  void withoutAnAnswerEverythingPasses() {
    for (int i = 0; i < 1000; i++) {
      assertThat(demand()).isTrue();
      assertThat(rate.admitsGuess(now, 0)).isTrue();
      rate.sent(now);
    }
    assertThat(rate.isOpen()).isTrue();
  }

  /** Many that were sent at once to a bucket's old region go to the new one at once. */
  @Test
  void whatHasMovedIsSentAgainWithoutAToken() {
    send(200);
    for (int i = 0; i < 200; i++) {
      end(Outcome.MOVED, 1);
      assertThat(retry()).as("retry %d", i).isTrue();
    }
    assertThat(retries()).as("tokens that are left").isGreaterThanOrEqualTo(49);
  }

  @Test
  void moreThan15ThrottlesInAHundredCutTo70PercentOfWhatIsInFlight() {
    send(20);
    for (int i = 0; i < 85; i++) {
      answer(Outcome.ANSWERED, 1);
      if (i % 5 == 0 && i < 75) {
        answer(Outcome.THROTTLED, 1);
      }
    }
    assertThat(rate.limit()).as("after 15 throttles in a hundred").isEqualTo(Integer.MAX_VALUE);
    answer(Outcome.THROTTLED, 1);
    assertThat(rate.limit()).isEqualTo(14);
    assertThat(demand()).as("20 are in flight").isFalse();
    assertThat(rate.admitsGuess(now, 0)).isFalse();
  }

  @Test
  void theLimitIsCutOnceInAHundredAnswersAndNotBelowFour() {
    cut();
    int before = rate.limit();
    for (int i = 0; i < 99; i++) {
      answer(i % 3 == 0 ? Outcome.THROTTLED : Outcome.ANSWERED, 1);
      assertThat(rate.limit()).isEqualTo(before);
    }
    answer(Outcome.THROTTLED, 1);
    assertThat(rate.limit()).isEqualTo((int) (before * 0.7));
    for (int i = 0; i < 2000; i++) {
      answer(i % 3 == 0 ? Outcome.THROTTLED : Outcome.ANSWERED, 1);
    }
    assertThat(rate.limit()).isEqualTo(4);
  }

  @Test
  void goodAnswersDoubleTheLimitUpToWhereItWasAndThenThereIsNone() {
    cut();
    assertThat(rate.limit()).isEqualTo(14);
    answer(Outcome.ANSWERED, 20);
    int slow = rate.limit();
    assertThat(slow).as("one more in as many answers as the limit").isEqualTo(15);
    answer(Outcome.ANSWERED, 5);
    assertThat(rate.limit()).isBetween(20, 21);
    answer(Outcome.ANSWERED, 75);
    assertThat(rate.limit()).isEqualTo(Integer.MAX_VALUE);
    answer(Outcome.THROTTLED, 2);
    assertThat(rate.limit()).as("what is past is forgotten").isEqualTo(Integer.MAX_VALUE);
  }

  @Test
  void guessesLeaveAnEighthOfTheLimitToDemand() {
    cut();
    end(Outcome.CANCELLED, 20);
    send(12);
    assertThat(rate.limit()).isEqualTo(14);
    assertThat(rate.admitsGuess(now, 0)).isTrue();
    send(1);
    assertThat(rate.admitsGuess(now, 0)).isFalse();
    assertThat(demand()).isTrue();
    assertThat(demand()).as("the pass counts until it is used").isFalse();
    now += 101 * MILLI;
    assertThat(demand()).as("it was not used").isTrue();
  }

  @Test
  void retriesTakeTokensThatComeBackWithGoodAnswers() {
    send(10);
    assertThat(retries()).isEqualTo(50);
    assertThat(demand()).isTrue();
    answer(Outcome.ANSWERED, 11);
    assertThat(retries()).isEqualTo(3);
    now += 500 * MILLI;
    assertThat(retries()).as("half a second").isEqualTo(5);
    end(Outcome.UNAVAILABLE, 3);
    now += 900 * MILLI;
    assertThat(retries()).as("in doubt").isZero();
  }

  @Test
  void aRetryThatIsNotSentGivesItsTokenBack() {
    assertThat(retries()).isEqualTo(50);
    rate.passUnused();
    assertThat(retries()).isEqualTo(1);
  }

  /** A run that finds no place looks again each 20 ms, and so do others. */
  @Test
  void aRetryThatPaidNothingGivesNothingBack() {
    send(10);
    assertThat(retries()).isEqualTo(50);
    end(Outcome.UNAVAILABLE, 3);
    now += SECOND;
    assertThat(rate.isShut(now)).isTrue();
    end(Outcome.CANCELLED, 3);
    end(Outcome.ANSWERED, 1);
    for (int i = 0; i < 50; i++) {
      assertThat(retry()).as("after SHUT, look %d", i).isTrue();
      rate.passUnused();
    }
    end(Outcome.UNAVAILABLE, 3);
    assertThat(retry()).as("in doubt, with no token left").isFalse();
  }

  @Test
  void aPassThatNobodyUsesLapsesWhileOthersAreUsed() {
    cut();
    end(Outcome.CANCELLED, 20);
    send(12);
    assertThat(demand()).as("and is never sent").isTrue();
    for (int i = 0; i < 6; i++) {
      now += 20 * MILLI;
      assertThat(demand()).isTrue();
      rate.sent(now);
      end(Outcome.CANCELLED, 1);
    }
    assertThat(demand()).isTrue();
    assertThat(demand()).as("in place of the one that was not used").isTrue();
  }

  @Test
  void inDoubtNoGuessPassesAndADemandTakesAToken() {
    send(5);
    end(Outcome.UNAVAILABLE, 2);
    assertThat(rate.isOpen()).isTrue();
    end(Outcome.UNAVAILABLE, 1);
    assertThat(rate.isOpen()).isFalse();
    assertThat(rate.admitsGuess(now, 0)).isFalse();
    for (int i = 0; i < 50; i++) {
      assertThat(demand()).isTrue();
    }
    assertThat(demand()).isFalse();
    end(Outcome.ANSWERED, 1);
    assertThat(demand()).isTrue();
    assertThat(rate.admitsGuess(now, 0)).isTrue();
  }

  @Test
  void badAnswersAloneForASecondLeaveOneProbeInASecond() {
    send(30);
    end(Outcome.UNAVAILABLE, 3);
    now += SECOND - 1;
    assertThat(rate.isShut(now)).isFalse();
    now += 1;
    assertThat(rate.isShut(now)).isTrue();
    assertThat(retry()).as("the first probe").isTrue();
    assertThat(demand()).isFalse();
    assertThat(rate.sent(now)).isTrue();
    now += SECOND - 1;
    assertThat(demand()).isFalse();
    now += 1;
    assertThat(demand()).as("though the first has not ended").isTrue();
  }

  @Test
  void twoBadAnswersOrASecondOfSilenceShutNothing() {
    send(2);
    end(Outcome.UNAVAILABLE, 2);
    now += 10 * SECOND;
    assertThat(rate.isShut(now)).isFalse();
    assertThat(rate.isOpen()).isTrue();
  }

  @Test
  void anotherProbeGoesWhereOneWasNotSentOrWasCancelled() {
    send(3);
    end(Outcome.UNAVAILABLE, 3);
    now += SECOND;
    assertThat(retry()).isTrue();
    rate.passUnused();
    assertThat(demand()).as("after a pass that was given back").isTrue();
    now += 101 * MILLI;
    assertThat(demand()).as("after a pass that nobody used").isTrue();
    rate.sent(now);
    end(Outcome.CANCELLED, 1);
    assertThat(rate.isShut(now)).isTrue();
    now += SECOND;
    assertThat(demand()).isTrue();
  }

  @Test
  void theFirstGoodAnswerLetsAllGoSpreadByTheLimit() {
    send(64);
    end(Outcome.UNAVAILABLE, 64);
    assertThat(retries()).isEqualTo(50);
    now += SECOND;
    assertThat(retry()).isTrue();
    rate.sent(now);
    end(Outcome.ANSWERED, 1);
    assertThat(rate.limit()).isEqualTo(5);
    int passed = retries();
    assertThat(passed).as("without tokens").isEqualTo(5);
    for (int i = 0; i < passed; i++) {
      rate.sent(now);
    }
    end(Outcome.ANSWERED, 5);
    assertThat(rate.limit()).isEqualTo(10);
    for (int answered = 0; answered < 50; answered++) {
      rate.sent(now);
      end(Outcome.ANSWERED, 1);
    }
    assertThat(rate.limit()).as("of 64 before").isEqualTo(60);
  }

  @Test
  void throttlesThatComeAloneNeverCut() {
    Random random = new Random(4);
    send(64);
    for (int i = 0; i < 100_000; i++) {
      now += MILLI;
      answer(random.nextInt(100) < 5 ? Outcome.THROTTLED : Outcome.ANSWERED, 1);
      assertThat(rate.limit()).isEqualTo(Integer.MAX_VALUE);
    }
  }

  @Test
  void whatIsNoThrottleNeverCuts() {
    send(64);
    for (int i = 0; i < 10_000; i++) {
      now += MILLI;
      answer(i % 2 == 0 ? Outcome.UNAVAILABLE : Outcome.ANSWERED, 1);
      assertThat(rate.limit()).isEqualTo(Integer.MAX_VALUE);
    }
  }
}
