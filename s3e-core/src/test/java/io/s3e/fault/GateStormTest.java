// SPDX-License-Identifier: Apache-2.0
package io.s3e.fault;

import static io.s3e.fault.GateSimulation.MILLI;
import static io.s3e.fault.GateSimulation.SECOND;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.fault.Gate.Outcome;
import io.s3e.fault.GateSimulation.Store;
import io.s3e.testing.Slow;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a gate promises of storms, in simulated time. */
class GateStormTest {
  private static final long BEGIN = 5 * SECOND;

  private static Store storm(double share, Outcome outcome, long from, long to) {
    return (now, random) ->
        now >= from && now < to && random.nextDouble() < share
            ? GateSimulation.bad(outcome)
            : GateSimulation.good(random);
  }

  @ParameterizedTest
  @CsvSource({
    "1, THROTTLED, 20",
    "1, UNAVAILABLE, 15",
    "16, THROTTLED, 20",
    "16, UNAVAILABLE, 60",
    "64, THROTTLED, 20",
    "64, UNAVAILABLE, 60",
    "1000, UNAVAILABLE, 15"
  })
  @Slow
  void aStoreThatRefusesEverybodyIsAskedOnceASecondAndBackAtOnce(
      int readers, Outcome outcome, int seconds) {
    long end = BEGIN + seconds * SECOND;
    GateSimulation run =
        new GateSimulation(readers + seconds, storm(1, outcome, BEGIN, end)).readers(readers);
    run.until(end + 30 * SECOND);

    // Good answers that were on their way come for 40 ms; then there are tokens, then probes.
    assertThat(run.sentBetween(BEGIN + 40 * MILLI, end)).isLessThanOrEqualTo(3 + 50 + seconds + 1);
    assertThat(run.sentBetween(BEGIN, end)).isLessThan(readers * 4 / 3 + 60 + seconds);
    assertThat(run.sentBetween(BEGIN + 2 * SECOND, end)).isBetween(seconds - 4L, seconds - 1L);
    assertThat(run.probes()).isBetween(seconds - 2L, seconds + 1L);
    assertThat(run.firstGoodAfter(end) - end).as("first good answer").isLessThan(1500 * MILLI);
    long quiet = run.goodBetween(BEGIN - 2 * SECOND, BEGIN) / 2;
    assertThat(run.goodBetween(end + 3 * SECOND, end + 4 * SECOND))
        .as("a second's answers, of %s in quiet", quiet)
        .isGreaterThan(quiet * 9 / 10);
    assertThat(run.gate.isOpen()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(ints = {16, 64})
  void aStoreThatIsDownFromTheStartIsAskedAtOnce(int readers) {
    GateSimulation run =
        new GateSimulation(readers, storm(1, Outcome.UNAVAILABLE, 0, 10 * SECOND)).readers(readers);
    run.until(14 * SECOND);
    assertThat(run.sentBetween(0, 10 * SECOND))
        .isBetween(Math.min(readers, 50) + 8L, readers + 64L);
    assertThat(run.firstGoodAfter(10 * SECOND)).isLessThan(11_500 * MILLI);
    assertThat(run.goodBetween(13 * SECOND, 14 * SECOND)).isGreaterThan(readers * 25L);
  }

  @ParameterizedTest
  @ValueSource(ints = {16, 64})
  void whereAThirdIsThrottledLessIsAskedAndThenAllAgain(int readers) {
    long end = BEGIN + 20 * SECOND;
    GateSimulation run =
        new GateSimulation(readers, storm(0.3, Outcome.THROTTLED, BEGIN, end)).readers(readers);
    run.until(BEGIN);
    assertThat(run.gate.isOpen()).isTrue();
    run.until(end);
    assertThat(run.gate.isOpen()).isFalse();
    long quiet = run.goodBetween(BEGIN - 2 * SECOND, BEGIN) / 2;
    long stormy = run.sentBetween(end - 5 * SECOND, end) / 5;
    assertThat(stormy).as("asked in a second, of %s in quiet", quiet).isBetween(20L, quiet * 2 / 3);
    run.until(end + 10 * SECOND);
    assertThat(run.goodBetween(end + 3 * SECOND, end + 4 * SECOND)).isGreaterThan(quiet * 9 / 10);
    assertThat(run.gate.isOpen()).isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "0.01, THROTTLED",
    "0.05, THROTTLED",
    "0.10, THROTTLED",
    "0.05, UNAVAILABLE",
    "0.10, UNAVAILABLE"
  })
  void failuresThatComeAloneHoldNobodyUp(double share, Outcome outcome) {
    for (int seed = 0; seed < 20; seed++) {
      GateSimulation run =
          new GateSimulation(seed, storm(share, outcome, 0, Long.MAX_VALUE)).readers(32);
      run.until(10 * SECOND);
      // 32 readers of 30 ms each, less those that pause before a second retry.
      assertThat(run.sentBetween(0, 10 * SECOND) / 10)
          .as("requests a second, seed %s", seed)
          .isGreaterThan((long) (1000 * (1 - 2 * share)));
    }
  }
}
