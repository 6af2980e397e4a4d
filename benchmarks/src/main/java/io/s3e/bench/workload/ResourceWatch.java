// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Set;

/**
 * Watches the memory of this process: its peaks and what is allocated, sampled by a thread of its
 * own every few milliseconds. {@link #close} ends the watch; the figures are complete after it.
 */
final class ResourceWatch implements AutoCloseable {

  /** Threads of the rig itself, none of which reads. */
  static final String WATCHDOG = "watchdog";

  private static final String SAMPLER = "resource-watch";
  private static final Set<String> RIG = Set.of(WATCHDOG, SAMPLER, "lifeline");
  private static final long INTERVAL_MILLIS = 10;
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final MemoryGauge gauge = new MemoryGauge();
  private final ThreadAllocations allocations = new ThreadAllocations(RIG::contains);
  private final Thread sampler = new Thread(this::sampleUntilInterrupted, SAMPLER);

  /** Written by the sampler, and by the closing thread once that has ended. */
  private volatile MemoryUse peak = gauge.read();

  private volatile long cpuNanos;

  ResourceWatch() {
    sampler.setDaemon(true);
    sampler.start();
  }

  private void sampleUntilInterrupted() {
    try {
      while (true) {
        Thread.sleep(INTERVAL_MILLIS);
        sample();
      }
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    } finally {
      cpuNanos = THREADS.getCurrentThreadCpuTime();
    }
  }

  private void sample() {
    peak = peak.max(gauge.read());
    allocations.sample();
  }

  /** Most memory at any sample. */
  MemoryUse peak() {
    return peak;
  }

  /** Bytes allocated on the heap; -1 where the JVM does not count them. */
  long allocatedBytes() {
    return allocations.bytes();
  }

  /** Processor time of the watch itself, in nanoseconds. */
  long cpuNanos() {
    return cpuNanos;
  }

  @Override
  public void close() throws InterruptedException {
    sampler.interrupt();
    sampler.join();
    sample();
    gauge.close();
  }
}
