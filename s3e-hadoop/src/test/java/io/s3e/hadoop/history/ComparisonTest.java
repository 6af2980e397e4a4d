// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ComparisonTest {
  /** Times blocked have long tails: exponential, of that mean. */
  private static Blocked tasks(Random random, int count, double mean) {
    Blocked sum = Blocked.NONE;
    for (int i = 0; i < count; i++) {
      sum = sum.plus(Blocked.task(-mean * Math.log(1 - random.nextDouble())));
    }
    return sum;
  }

  @Test
  void ratioAndMarginAreThoseOfTheDeltaMethod() {
    // Means 1 and 2, variances of tasks 1/3 and 4/3.
    Blocked with = new Blocked(4, 4, 5);
    Blocked without = new Blocked(4, 8, 20);
    Comparison comparison = new Comparison(with, without);
    assertThat(comparison.ratio()).isEqualTo(0.5);
    double relative = Math.sqrt((1.0 / 3 / 4) + (4.0 / 3 / 4 / 4));
    assertThat(comparison.margin()).isCloseTo(1.96 * 0.5 * relative, within(1e-12));
  }

  @Test
  void textSaysBothGroupsAndTheConfidence() {
    assertThat(new Comparison(JobFactsTest.tasks(312, 0.69), JobFactsTest.tasks(40, 1)).text())
        .isEqualTo("blocked -31 % ± 6 %, 312 tasks with, 40 without");
    assertThat(new Comparison(JobFactsTest.tasks(400, 1), JobFactsTest.tasks(29, 1)).text())
        .isEqualTo("not enough yet: 400 tasks with, 29 without, of 30 each");
  }

  @Test
  void nobodyBlockedIsNoHelp() {
    Blocked idle = JobFactsTest.tasks(40, 0);
    assertThat(new Comparison(idle, idle).isBetter()).isFalse();
    assertThat(new Comparison(idle, idle).isMuchWorse()).isFalse();
    assertThat(new Comparison(JobFactsTest.tasks(40, 1), idle).isBetter()).isFalse();
    assertThat(new Comparison(idle, JobFactsTest.tasks(40, 1)).isBetter()).isTrue();
  }

  /** Of 450 tasks one is blocked sooner than of 30. */
  @Test
  void oneBlockedTaskBesideIdleControlsIsNoHarm() {
    Blocked with = JobFactsTest.tasks(449, 0).plus(Blocked.task(0.001));
    Comparison comparison = new Comparison(with, JobFactsTest.tasks(30, 0));
    assertThat(comparison.isMuchWorse()).isFalse();
    assertThat(comparison.isBetter()).isFalse();
    assertThat(comparison.text())
        .isEqualTo("blocked with the history alone, 450 tasks with, 30 without");
  }

  /** Where the history makes no difference it is called better, or much worse, by chance alone. */
  @Test
  void errorsAreAsRareAsTheConfidenceSays() {
    Random random = new Random(11);
    long better =
        IntStream.range(0, 2_000)
            .filter(i -> new Comparison(tasks(random, 600, 1), tasks(random, 40, 1)).isBetter())
            .count();
    // 2.5 % of each side, and more on this one for so few controls with so long a tail.
    assertThat(better).isBetween(1L, 160L);
    long worse =
        IntStream.range(0, 2_000)
            .filter(i -> new Comparison(tasks(random, 600, 1), tasks(random, 40, 1)).isMuchWorse())
            .count();
    assertThat(worse).isBetween(1L, 160L);
  }

  @Test
  void halfOfTheTimeIsSeenWithFewControls() {
    Random random = new Random(12);
    long better =
        IntStream.range(0, 1_000)
            .filter(i -> new Comparison(tasks(random, 600, 0.5), tasks(random, 40, 1)).isBetter())
            .count();
    assertThat(better).isGreaterThan(900);
  }

  @Test
  void oneTaskInSixteenIsAControlWhateverItsIdIsMadeOf() {
    long longs = IntStream.range(0, 160_000).filter(i -> Trial.isControl((long) i)).count();
    assertThat(longs).isBetween(9_500L, 10_500L);
    long names =
        IntStream.range(0, 160_000).filter(i -> Trial.isControl("attempt_17_m_" + i)).count();
    assertThat(names).isBetween(9_500L, 10_500L);
    // Slots take tasks in turns: no slot has all the controls.
    for (int slot = 0; slot < 16; slot++) {
      int first = slot;
      assertThat(
              IntStream.range(0, 10_000)
                  .filter(i -> Trial.isControl((long) (16 * i + first)))
                  .count())
          .isBetween(500L, 750L);
    }
  }

  @Test
  void tasksAreCountedOnceWhenTheyEnd() {
    Trial trial = new Trial();
    for (long task = 0; task < 100; task++) {
      TaskTime time = trial.of(task);
      assertThat(trial.of(task)).isSameAs(time);
      time.blocked(1_000_000_000);
      trial.ended(task);
      trial.ended(task);
      time.blocked(1_000_000_000);
    }
    trial.of(100L).blocked(1_000_000_000);
    assertThat(trial.with().plus(trial.without())).isEqualTo(new Blocked(100, 100, 100));
    trial.allEnded();
    assertThat(trial.with().plus(trial.without())).isEqualTo(new Blocked(101, 101, 101));
    assertThat(trial.without().tasks()).isPositive();
  }
}
