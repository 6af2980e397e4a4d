// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.LongAdder;

/**
 * The cost of the rig itself on the threads that read: processor time and heap that are taken off a
 * run's figures. Any thread.
 */
final class Overhead {

  private static final java.lang.management.ThreadMXBean THREADS =
      ManagementFactory.getThreadMXBean();

  private final LongAdder cpuNanos = new LongAdder();
  private final LongAdder allocatedBytes = new LongAdder();

  /** Something that the rig does and no application would. */
  @FunctionalInterface
  interface Work {
    void run() throws WrongBytesException;
  }

  void of(Work work) throws WrongBytesException {
    long cpu = THREADS.getCurrentThreadCpuTime();
    long allocated = allocated();
    work.run();
    allocatedBytes.add(allocated() - allocated);
    cpuNanos.add(THREADS.getCurrentThreadCpuTime() - cpu);
  }

  /** A buffer of the workload's own, which is no garbage of the reader's. */
  byte[] buffer(int length) {
    long allocated = allocated();
    byte[] buffer = new byte[length];
    allocatedBytes.add(allocated() - allocated);
    return buffer;
  }

  private static long allocated() {
    return THREADS instanceof ThreadMXBean counting ? counting.getCurrentThreadAllocatedBytes() : 0;
  }

  long cpuNanos() {
    return cpuNanos.sum();
  }

  long allocatedBytes() {
    return allocatedBytes.sum();
  }
}
