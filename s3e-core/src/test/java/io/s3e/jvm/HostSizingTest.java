// SPDX-License-Identifier: Apache-2.0
package io.s3e.jvm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HostSizingTest {
  private static final long MIB = 1L << 20;
  private static final long GIB = 1L << 30;

  private static long memory(int processors, long heap) {
    HostSizing host = new HostSizing(processors, heap, heap);
    return host.memoryBytes(host.targetGbps());
  }

  @Test
  void smallHostsHaveTheFiguresThatTheyHadBefore() {
    for (int processors : new int[] {1, 2, 4, 8, 25}) {
      double target = new HostSizing(processors, GIB, GIB).targetGbps();
      assertThat(target).isEqualTo(25);
      assertThat(HostSizing.connections(target)).isEqualTo(64);
      assertThat(HostSizing.eventLoops(target)).isEqualTo(8);
      assertThat(memory(processors, 256 * MIB)).isEqualTo(64 * MIB);
      assertThat(memory(processors, GIB)).isEqualTo(128 * MIB);
      assertThat(memory(processors, 2 * GIB)).isEqualTo(256 * MIB);
      assertThat(memory(processors, 8 * GIB)).isEqualTo(256 * MIB);
    }
  }

  @Test
  void memoryFollowsHeapAndTarget() {
    assertThat(memory(8, 12 * GIB)).isEqualTo(384 * MIB);
    assertThat(memory(8, 64 * GIB)).as("25 Gbit/s").isEqualTo(500 * MIB);
    assertThat(memory(64, 32 * GIB)).isEqualTo(GIB);
    assertThat(memory(64, 512 * GIB)).as("64 Gbit/s").isEqualTo(1280 * MIB);
    assertThat(memory(192, 512 * GIB)).as("100 Gbit/s").isEqualTo(2000 * MIB);
    assertThat(new HostSizing(192, 512 * GIB, 512 * GIB).memoryBytes(200)).isEqualTo(4000 * MIB);
  }

  @Test
  void memoryFitsDirectMemoryAndSparksOverhead() {
    assertThat(new HostSizing(64, 64 * GIB, 512 * MIB).memoryBytes(64)).isEqualTo(256 * MIB);
    for (long heap = 64 * MIB; heap < 1024 * GIB; heap = heap * 5 / 4) {
      for (double target : new double[] {0.1, 10, 100, 1000}) {
        long memory = new HostSizing(64, heap, heap).memoryBytes(target);
        assertThat(memory)
            .as("heap %d, target %s", heap, target)
            .isLessThanOrEqualTo(Math.max(384 * MIB, heap / 10))
            .isLessThanOrEqualTo(heap / 2);
      }
    }
  }

  @Test
  void connectionsAndEventLoopsFollowTheTarget() {
    assertThat(new HostSizing(64, GIB, GIB).targetGbps()).isEqualTo(64);
    assertThat(new HostSizing(192, GIB, GIB).targetGbps()).isEqualTo(100);
    assertThat(HostSizing.connections(100)).isEqualTo(250);
    assertThat(HostSizing.connections(1000)).isEqualTo(2500);
    assertThat(HostSizing.eventLoops(100)).isEqualTo(17);
    assertThat(HostSizing.eventLoops(1000)).isEqualTo(167);
    assertThat(HostSizing.connections(0.1)).isEqualTo(64);
  }
}
