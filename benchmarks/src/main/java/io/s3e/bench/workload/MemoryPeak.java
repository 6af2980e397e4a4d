package io.s3e.bench.workload;

import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The most memory that this process held while it watched, sampled by a thread of its own every few
 * milliseconds. {@link #close} ends the watch.
 */
final class MemoryPeak implements AutoCloseable {

  private static final long INTERVAL_MILLIS = 10;
  private static final Path STATUS = Path.of("/proc/self/status");

  private final MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
  private final BufferPoolMXBean directPool =
      ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
          .filter(pool -> pool.getName().equals("direct"))
          .findFirst()
          .orElseThrow(() -> new IllegalStateException("This JVM counts no direct buffers"));
  private final Thread sampler = new Thread(this::sampleUntilInterrupted, "memory-peak");
  private volatile long heap;
  private volatile long direct;
  private volatile long resident = -1;

  MemoryPeak() {
    sample();
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
    }
  }

  private synchronized void sample() {
    heap = Math.max(heap, memory.getHeapMemoryUsage().getUsed());
    direct = Math.max(direct, directPool.getMemoryUsed());
    resident = Math.max(resident, anonymousBytes());
  }

  /**
   * Anonymous resident memory, which leaves out mapped files; -1 where the system does not tell.
   */
  private static long anonymousBytes() {
    try {
      for (String line : Files.readAllLines(STATUS)) {
        if (line.startsWith("RssAnon:")) {
          return 1024 * Long.parseLong(line.replaceAll("\\D", ""));
        }
      }
      return -1;
    } catch (IOException notLinux) {
      return -1;
    }
  }

  long heapBytes() {
    return heap;
  }

  long directBytes() {
    return direct;
  }

  long residentBytes() {
    return resident;
  }

  @Override
  public void close() throws InterruptedException {
    sampler.interrupt();
    sampler.join();
    sample();
  }
}
