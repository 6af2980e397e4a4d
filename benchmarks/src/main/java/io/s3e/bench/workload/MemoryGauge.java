// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.lang.management.MemoryUsage;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Reads what memory this process holds now. One thread at a time.
 *
 * <p>Native memory is what is left of the process's anonymous resident memory when the committed
 * heap, the committed memory for classes and code, and direct buffers are taken off. That is right
 * if all committed heap is resident, so the JVM must run with {@code -XX:+AlwaysPreTouch}. Mapped
 * files, such as the reference, are not anonymous.
 */
final class MemoryGauge implements AutoCloseable {

  private static final String STATUS = "/proc/self/status";
  private static final String ANONYMOUS = "RssAnon:";
  private static final int STATUS_BYTES = 4096;

  private final MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
  private final BufferPoolMXBean directPool =
      ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
          .filter(pool -> pool.getName().equals("direct"))
          .findFirst()
          .orElseThrow(() -> new IllegalStateException("This JVM counts no direct buffers"));

  /** Read again from its start for every look; null where there is no such file. */
  private final @Nullable RandomAccessFile status = openStatus();

  private final byte[] buffer = new byte[STATUS_BYTES];

  private static @Nullable RandomAccessFile openStatus() {
    try {
      return new RandomAccessFile(STATUS, "r");
    } catch (IOException notLinux) {
      return null;
    }
  }

  MemoryUse read() {
    MemoryUsage heap = memory.getHeapMemoryUsage();
    long direct = directPool.getMemoryUsed();
    long nonHeap = memory.getNonHeapMemoryUsage().getCommitted();
    long resident = anonymousBytes();
    long other = resident < 0 ? -1 : Math.max(0, resident - heap.getCommitted() - nonHeap - direct);
    long total = other < 0 ? -1 : heap.getUsed() + direct + nonHeap + other;
    return new MemoryUse(heap.getUsed(), direct, nonHeap, other, total);
  }

  /** Anonymous resident memory; -1 where the system does not tell. */
  private long anonymousBytes() {
    if (status == null) {
      return -1;
    }
    try {
      status.seek(0);
      int length = Math.max(0, status.read(buffer));
      String text = new String(buffer, 0, length, StandardCharsets.US_ASCII);
      int start = text.indexOf(ANONYMOUS);
      if (start < 0) {
        return -1;
      }
      int end = text.indexOf('\n', start);
      return 1024 * Long.parseLong(text.substring(start, end).replaceAll("\\D", ""));
    } catch (IOException unreadable) {
      return -1;
    }
  }

  @Override
  public void close() {
    if (status != null) {
      try {
        status.close();
      } catch (IOException e) {
        throw new IllegalStateException("A file that was only read does not close: " + STATUS, e);
      }
    }
  }
}
