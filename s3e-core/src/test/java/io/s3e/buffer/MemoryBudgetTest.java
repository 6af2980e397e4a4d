// SPDX-License-Identifier: Apache-2.0
package io.s3e.buffer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.testing.Seed;
import io.s3e.testing.Threads;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class MemoryBudgetTest {

  @Test
  void grantsUpToTheLimitAndNotAByteMore() {
    MemoryBudget budget = new MemoryBudget(100);
    assertThat(budget.tryReserve(60)).isTrue();
    assertThat(budget.tryReserve(41)).isFalse();
    assertThat(budget.tryReserve(40)).isTrue();
    assertThat(budget.tryReserve(1)).isFalse();
    assertThat(budget.reserved()).isEqualTo(100);
    assertThat(budget.available()).isZero();
    budget.release(30);
    assertThat(budget.reserved()).isEqualTo(70);
    assertThat(budget.available()).isEqualTo(30);
    assertThat(budget.limit()).isEqualTo(100);
  }

  @Test
  void zeroBytesAreAlwaysGranted() {
    MemoryBudget budget = new MemoryBudget(1);
    assertThat(budget.tryReserve(1)).isTrue();
    assertThat(budget.tryReserve(0)).isTrue();
    budget.release(0);
    assertThat(budget.reserved()).isEqualTo(1);
  }

  @Test
  void hugeRequestsDoNotOverflow() {
    MemoryBudget budget = new MemoryBudget(Long.MAX_VALUE);
    assertThat(budget.tryReserve(Long.MAX_VALUE - 1)).isTrue();
    assertThat(budget.tryReserve(2)).isFalse();
    assertThat(budget.tryReserve(Long.MAX_VALUE)).isFalse();
    assertThat(budget.tryReserve(1)).isTrue();
    assertThat(budget.available()).isZero();
  }

  @Test
  void releasingMoreThanReservedFailsAndChangesNothing() {
    MemoryBudget budget = new MemoryBudget(100);
    assertThat(budget.tryReserve(10)).isTrue();
    assertThatThrownBy(() -> budget.release(11))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("cannot release 11 bytes of 10 that are reserved");
    assertThat(budget.reserved()).isEqualTo(10);
  }

  @Test
  void badNumbersAreRejected() {
    assertThatThrownBy(() -> new MemoryBudget(0)).isInstanceOf(IllegalArgumentException.class);
    MemoryBudget budget = new MemoryBudget(1);
    assertThatThrownBy(() -> budget.tryReserve(-1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> budget.release(-1)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void theSumOfGrantsIsExactUnderContention() throws Exception {
    MemoryBudget budget = new MemoryBudget(1_000);
    AtomicLong heldByAll = new AtomicLong();
    AtomicLong most = new AtomicLong();
    long seed = Seed.draw();
    Threads.run(
        8,
        seed,
        (thread, random) -> {
          long held = 0;
          for (int i = 0; i < 50_000; i++) {
            held += step(budget, random, held, heldByAll, most);
          }
          heldByAll.addAndGet(-held);
          budget.release(held);
        });
    assertThat(most.get()).as("seed %d", seed).isLessThanOrEqualTo(1_000);
    assertThat(budget.reserved()).as("seed %d", seed).isZero();
  }

  /**
   * Counts in {@code heldByAll} only what is certainly reserved, so it may never pass the limit.
   */
  private static long step(
      MemoryBudget budget,
      SplittableRandom random,
      long held,
      AtomicLong heldByAll,
      AtomicLong most) {
    long bytes = random.nextLong(1, 400);
    if (random.nextBoolean()) {
      if (!budget.tryReserve(bytes)) {
        return 0;
      }
      most.accumulateAndGet(heldByAll.addAndGet(bytes), Math::max);
      return bytes;
    }
    long back = Math.min(bytes, held);
    heldByAll.addAndGet(-back);
    budget.release(back);
    return -back;
  }
}
