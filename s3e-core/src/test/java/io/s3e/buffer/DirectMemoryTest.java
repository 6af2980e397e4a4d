// SPDX-License-Identifier: Apache-2.0
package io.s3e.buffer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.s3e.testing.ForkedJvm;
import io.s3e.testing.Slow;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Buffers are made and freed at once. Those of arenas, from Java 22 on, are not among what the JVM
 * counts as direct memory; all others are.
 */
class DirectMemoryTest {
  private static final int BYTES = 3 << 20;
  private static final boolean ARENAS = Runtime.version().feature() >= 22;

  /** The JVM that can be told to refuse {@code sun.misc.Unsafe}'s memory. */
  private static final int DENIES_UNSAFE = 24;

  @Test
  void buffersAreWrittenReadAndFreed() {
    long before = direct();
    List<ByteBuffer> buffers = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      ByteBuffer buffer = DirectMemory.INSTANCE.allocate(BYTES);
      assertThat(buffer.isDirect()).isTrue();
      assertThat(buffer.capacity()).isEqualTo(BYTES);
      assertThat(buffer.position()).isZero();
      assertThat(buffer.limit()).isEqualTo(BYTES);
      assertThat(buffer.order()).isEqualTo(ByteOrder.BIG_ENDIAN);
      buffer.putLong(BYTES - Long.BYTES, i);
      buffers.add(buffer);
    }
    assertThat(direct() - before).isGreaterThanOrEqualTo(ARENAS ? 0 : 8L * BYTES);
    for (int i = 0; i < 8; i++) {
      assertThat(buffers.get(i).getLong(BYTES - Long.BYTES)).isEqualTo(i);
      DirectMemory.INSTANCE.free(buffers.get(i));
    }
    assertThat(direct() - before).isLessThan(BYTES);
  }

  /** A JVM that has arenas catches a use after the end; an older one may do anything. */
  @Test
  void aBufferOfAnArenaCannotBeUsedOnceFreed() {
    assumeTrue(ARENAS, "this Java has no arenas");
    ByteBuffer buffer = DirectMemory.INSTANCE.allocate(BYTES);
    ByteBuffer slice = buffer.slice(0, 1024);
    DirectMemory.INSTANCE.free(buffer);
    assertThatThrownBy(() -> slice.get(0)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  @Slow
  void nothingIsWrittenToStandardErrorAndNothingIsLeft() throws Exception {
    List<String> options = new ArrayList<>(List.of("-Xmx64m", "-XX:MaxDirectMemorySize=8m"));
    if (Runtime.version().feature() >= DENIES_UNSAFE) {
      options.add("--sun-misc-unsafe-memory-access=deny");
    }
    try (ForkedJvm jvm =
        ForkedJvm.of(Allocations.class.getName())
            .options("-Dorg.slf4j.simpleLogger.log.io.s3e=off")
            .options(options.toArray(String[]::new))
            .start()) {
      jvm.end();
      assertThat(jvm.rest()).containsExactly("direct [true, true, " + ARENAS + "]", "left 0");
      assertThat(jvm.exitCode()).isZero();
    }
  }

  /** The JVM has 8 MiB of direct memory; takes 9, where need be from the heap, and frees all. */
  static final class Allocations {
    public static void main(String[] args) {
      long before = direct();
      List<ByteBuffer> buffers = new ArrayList<>();
      List<Boolean> direct = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        ByteBuffer buffer = DirectMemory.INSTANCE.allocate(BYTES);
        direct.add(buffer.isDirect());
        buffers.add(buffer);
      }
      buffers.forEach(DirectMemory.INSTANCE::free);
      System.out.println("direct " + direct);
      System.out.println("left " + (direct() - before));
    }
  }

  private static long direct() {
    return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
        .filter(pool -> pool.getName().equals("direct"))
        .mapToLong(BufferPoolMXBean::getMemoryUsed)
        .sum();
  }
}
