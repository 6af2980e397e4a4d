// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ReadMonitorTest {

  @Test
  void countsReadsAndBytesButNotWhatFailed() {
    ReadMonitor monitor = new ReadMonitor();
    for (int i = 0; i < 3_000; i++) {
      monitor.begin("read");
      monitor.endRead(10);
    }
    monitor.begin("read that throws");
    monitor.end();

    assertThat(monitor.reads()).isEqualTo(3_000);
    assertThat(monitor.bytesUsed()).isEqualTo(30_000);
    assertThat(monitor.latency(0.5)).isNotNegative().isLessThanOrEqualTo(monitor.latency(0.99));
  }

  @Test
  void withoutReadsThereIsNoLatency() {
    assertThat(new ReadMonitor().latency(0.5)).isEqualTo(-1);
  }

  @Test
  void aCallIsOverdueUntilItEnds() {
    ReadMonitor monitor = new ReadMonitor();
    monitor.begin("slow read");

    assertThat(monitor.overdue(TimeUnit.HOURS.toNanos(1))).isNull();
    assertThat(monitor.overdue(-1))
        .satisfies(
            pending -> {
              assertThat(pending.what()).isEqualTo("slow read");
              assertThat(pending.thread()).isSameAs(Thread.currentThread());
            });
    monitor.end();
    assertThat(monitor.overdue(-1)).isNull();
  }
}
