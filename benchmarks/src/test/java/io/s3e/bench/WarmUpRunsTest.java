// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class WarmUpRunsTest {

  private static final long MEBIBYTE = 1L << 20;
  private static final long SECOND = 1_000_000_000L;

  private final WarmUpRuns runs = of(16, 0.05, false, 0);

  private static WarmUpRuns of(int seconds, double steadyShare, boolean isWarm, long leastBytes) {
    return new WarmUpRuns(
        Duration.ofSeconds(seconds),
        steadyShare,
        isWarm,
        leastBytes,
        64 * MEBIBYTE,
        512 * MEBIBYTE,
        2);
  }

  @Test
  void endsWithARunThatIsLikeTheOneBefore() {
    runs.ran(SECOND, 64 * MEBIBYTE, 0);
    assertThat(runs.isOver()).as("one run").isFalse();
    runs.ran(SECOND, 68 * MEBIBYTE, 0);
    assertThat(runs.isOver()).as("6 % faster").isFalse();
    runs.ran(SECOND, 70 * MEBIBYTE, 0);
    assertThat(runs.isOver()).as("3 % faster").isTrue();
  }

  @Test
  void goesOnWhileTheCompilersTakeMoreThanATenthOfTheMachine() {
    runs.ran(SECOND, 64 * MEBIBYTE, SECOND);
    runs.ran(SECOND, 64 * MEBIBYTE, SECOND / 4);
    assertThat(runs.isOver()).as("an eighth of two processors").isFalse();
    runs.ran(SECOND, 64 * MEBIBYTE, SECOND / 5);
    assertThat(runs.isOver()).as("a tenth").isTrue();
  }

  @Test
  void endsWithoutWordOfTheCompilers() {
    runs.ran(SECOND, 64 * MEBIBYTE, -1);
    runs.ran(SECOND, 64 * MEBIBYTE, -1);
    assertThat(runs.isOver()).isTrue();
  }

  @Test
  void endsAfterItsTimeWhereNoRunIsLikeTheOneBefore() {
    for (int second = 1; second < 16; second++) {
      runs.ran(SECOND, second * 64 * MEBIBYTE, SECOND);
      assertThat(runs.isOver()).as("after %d s", second).isFalse();
    }
    runs.ran(SECOND, 16 * 64 * MEBIBYTE, SECOND);
    assertThat(runs.isOver()).isTrue();
  }

  @Test
  void takesItsTimeWhereNoRunIsSteady() {
    WarmUpRuns untilTime = of(3, 0, false, 0);
    untilTime.ran(SECOND, 64 * MEBIBYTE, 0);
    untilTime.ran(SECOND, 64 * MEBIBYTE, 0);
    assertThat(untilTime.isOver()).isFalse();
    untilTime.ran(SECOND, 64 * MEBIBYTE, 0);
    assertThat(untilTime.isOver()).isTrue();
  }

  @Test
  void readsItsBytesHoweverSteady() {
    WarmUpRuns much = of(0, 0.05, false, 192 * MEBIBYTE);
    much.ran(SECOND, 64 * MEBIBYTE, 0);
    much.ran(SECOND, 64 * MEBIBYTE, 0);
    assertThat(much.isOver()).isFalse();
    much.ran(SECOND, 64 * MEBIBYTE, 0);
    assertThat(much.isOver()).isTrue();
  }

  @Test
  void endsWithTheFirstRunOfAWarmJvmThatHasReadItsBytes() {
    WarmUpRuns warm = of(16, 0.05, true, 128 * MEBIBYTE);
    warm.ran(SECOND, 64 * MEBIBYTE, SECOND);
    assertThat(warm.isOver()).isFalse();
    warm.ran(SECOND, 128 * MEBIBYTE, SECOND);
    assertThat(warm.isOver()).isTrue();
  }

  @Test
  void readsTwiceAsMuchInEachRunWhileTimeIsLeftAndNeverMoreThanARunHas() {
    long[] bytes = {64, 128, 256, 512, 512};
    for (long expected : bytes) {
      assertThat(runs.bytes()).isEqualTo(expected * MEBIBYTE);
      runs.ran(SECOND / 2, runs.bytes(), SECOND);
    }
  }

  @Test
  void readsNoMoreThanTheTimeLeftIsLongEnoughFor() {
    WarmUpRuns slow = of(3, 0.05, false, 0);
    slow.ran(2 * SECOND, 64 * MEBIBYTE, 0);
    assertThat(slow.bytes()).isEqualTo(64 * MEBIBYTE);
  }
}
