// SPDX-License-Identifier: Apache-2.0
package io.s3e.jvm;

import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.ObjectName;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The heap of the C library, which keeps what was freed: glibc up to 32 MiB in each of up to eight
 * arenas a processor. Memory of 32 MiB and more is mapped and goes when it is freed, but arenas of
 * pools and what the CRT allocates are smaller, and Java has no other way to memory that is mapped
 * and has no file. So the JVM is asked to have the C library give back what it keeps, by its
 * command {@code System.trim_native_heap}.
 */
public final class NativeHeap {
  private static final Logger LOG = LoggerFactory.getLogger(NativeHeap.class);
  private static final String COMMANDS = "com.sun.management:type=DiagnosticCommand";
  private static final String TRIM = "systemTrimNativeHeap";

  private NativeHeap() {}

  /**
   * Gives back to the system what has been freed; takes some ms. Nothing happens where the JVM
   * lacks the command: before 17.0.9, and beside another C library.
   */
  public static void trim() {
    try {
      Object said =
          ManagementFactory.getPlatformMBeanServer()
              .invoke(new ObjectName(COMMANDS), TRIM, new Object[0], new String[0]);
      LOG.debug("{}", said);
    } catch (JMException | RuntimeException | LinkageError e) {
      LOG.debug("The C library's heap cannot be trimmed", e);
    }
  }
}
