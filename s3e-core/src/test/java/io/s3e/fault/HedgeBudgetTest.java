// SPDX-License-Identifier: Apache-2.0
package io.s3e.fault;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class HedgeBudgetTest {
  private long now = Long.MAX_VALUE - 5;
  private final HedgeBudget budget = new HedgeBudget(() -> now);

  /** The first GET of all may hang. */
  @Test
  void twoNeedNotBeEarned() {
    assertThat(budget.tryTake()).isTrue();
    assertThat(budget.tryTake()).isTrue();
    assertThat(budget.tryTake()).isFalse();
  }

  @Test
  void hedgesAreTwoInAHundredBesideThose() {
    int hedges = 0;
    for (int i = 0; i < 10_000; i++) {
      budget.sent();
      hedges += budget.tryTake() ? 1 : 0;
    }
    assertThat(hedges).isEqualTo(202);
  }

  @Test
  void nothingIsSavedBeyondTen() {
    for (int i = 0; i < 10_000; i++) {
      budget.sent();
    }
    int hedges = 0;
    while (budget.tryTake()) {
      hedges++;
    }
    assertThat(hedges).isEqualTo(10);
  }

  @Test
  void throttledStoreIsAskedOnceOnly() {
    for (int i = 0; i < 100; i++) {
      budget.sent();
    }
    budget.throttled();
    assertThat(budget.tryTake()).isFalse();
    now += TimeUnit.SECONDS.toNanos(30) - 1;
    assertThat(budget.tryTake()).isFalse();
    now += 1;
    assertThat(budget.tryTake()).isTrue();
  }
}
