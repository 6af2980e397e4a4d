// SPDX-License-Identifier: Apache-2.0
package io.s3e.jvm;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;

/** Direct memory of this JVM: its limit, and how much of it nobody has taken. */
public final class JvmMemory {
  /** {@code -XX:MaxDirectMemorySize} in bytes; without the flag the JVM takes the heap limit. */
  static final long MAX_DIRECT_BYTES = maxDirect();

  private JvmMemory() {}

  /** Bytes of the limit that are free now. A collection may free more. */
  public static long freeDirectBytes() {
    for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
      if (pool.getName().equals("direct")) {
        return Math.max(0, MAX_DIRECT_BYTES - pool.getMemoryUsed());
      }
    }
    return MAX_DIRECT_BYTES;
  }

  private static long maxDirect() {
    long heap = Runtime.getRuntime().maxMemory();
    try {
      HotSpotDiagnosticMXBean hotSpot =
          ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
      // Not set is told as 0.
      long flag = Long.parseLong(hotSpot.getVMOption("MaxDirectMemorySize").getValue());
      return flag > 0 ? flag : heap;
    } catch (RuntimeException | LinkageError e) {
      // Another JVM than HotSpot, or an image without the module: the default is the best guess.
      return heap;
    }
  }
}
