// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ResourceWatchTest {

  private static final int PIECES = 64;
  private static final int PIECE_BYTES = 1 << 20;

  /** Where the allocated goes, so that the compiler cannot do without it. */
  private volatile byte[] kept = new byte[0];

  private void allocate() {
    for (int i = 0; i < PIECES; i++) {
      kept = new byte[PIECE_BYTES];
      assertThat(kept).hasSize(PIECE_BYTES);
    }
  }

  @Test
  void countsWhatEveryThreadAllocates() throws Exception {
    ResourceWatch watch = new ResourceWatch();
    CountDownLatch done = new CountDownLatch(1);
    CountDownLatch over = new CountDownLatch(1);
    Thread other =
        new Thread(
            () -> {
              allocate();
              done.countDown();
              awaitQuietly(over);
            });
    try (watch) {
      other.start();
      allocate();
      done.await();
    }
    over.countDown();
    other.join();

    assertThat(watch.allocatedBytes())
        .isBetween(2L * PIECES * PIECE_BYTES, 3L * PIECES * PIECE_BYTES);
    assertThat(watch.peak().heap()).isPositive();
    assertThat(watch.cpuNanos()).isNotNegative();
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void whatTheRigAllocatesIsKnown() throws Exception {
    Overhead overhead = new Overhead();

    assertThat(overhead.buffer(PIECE_BYTES)).hasSize(PIECE_BYTES);
    overhead.of(this::allocate);

    assertThat(overhead.allocatedBytes())
        .isBetween((PIECES + 1L) * PIECE_BYTES, (PIECES + 2L) * PIECE_BYTES);
    assertThat(overhead.cpuNanos()).isPositive();
  }

  @Test
  void aCallThatTookLongHasWaited() {
    ReadMonitor monitor = new ReadMonitor();
    monitor.add(TimeUnit.MILLISECONDS.toNanos(4), 1);
    monitor.add(TimeUnit.MILLISECONDS.toNanos(6), 1);

    assertThat(monitor.slowerThan(TimeUnit.MILLISECONDS.toNanos(5))).isEqualTo(1);
    monitor.begin("ten at once");
    monitor.endReads(10, 10);
    assertThat(monitor.slowerThan(0)).as("nobody timed each of the ten").isEqualTo(-1);
  }
}
