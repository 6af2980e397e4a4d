// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.prefetch.GuessKind;
import io.s3e.prefetch.PrefetchLimits;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class WantedTest {
  private static final int RUNS = 2_000;
  private static final int BLOCK = 1 << 10;

  /** Runs of one block, each apart from the one before. */
  private static List<BlockRange> runs(int count) {
    return LongStream.range(0, count).mapToObj(i -> new BlockRange(2 * i, 2 * i + 1)).toList();
  }

  private static Wanted wanted() {
    PrefetchLimits limits = new PrefetchLimits(RUNS * BLOCK, BLOCK, BLOCK, 2L * RUNS * BLOCK, 8, 8);
    return new Wanted(new BlockLayout(4L * RUNS * BLOCK, BLOCK), limits);
  }

  private static void add(Wanted wanted, int count) {
    boolean isAll = wanted.add(runs(count), GuessKind.GROUP, (kind, used, unused) -> {});
    assertThat(isAll).as("there is room for %d runs", count).isTrue();
    assertThat(wanted.wish().ranges()).hasSize(count);
  }

  /** A wish that is made anew for each run takes 16 KB a run here. */
  @Test
  void aGroupOfManyRunsTakesNoMoreMemoryForEach() {
    add(wanted(), 10);
    Wanted wanted = wanted();
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    add(wanted, RUNS);
    long taken = threads.getCurrentThreadAllocatedBytes() - before;
    assertThat(taken / RUNS).as("bytes allocated for a run").isLessThan(2_000);
  }
}
