package io.s3e;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;

/** The limit of direct memory that this JVM was started with. */
final class JvmMemory {
  private static final long MAX_DIRECT_BYTES = maxDirect();

  private JvmMemory() {}

  /**
   * {@code -XX:MaxDirectMemorySize} in bytes; without the flag the JVM takes the heap limit.
   * Constant over the JVM's life.
   */
  static long maxDirectBytes() {
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
