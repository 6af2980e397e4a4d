// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Counts the bytes that threads allocate on the heap. The JVM counts exactly for each thread, and
 * forgets a thread when it ends: what a thread allocated after the last {@link #sample} that saw it
 * is lost. With samples every few milliseconds that is little, since readers and their clients keep
 * their threads. One thread at a time.
 */
final class ThreadAllocations {

  private final @Nullable ThreadMXBean threads;
  private final Predicate<String> leftOut;
  private final Map<Long, Long> before = new HashMap<>();
  private final Map<Long, Long> latest = new HashMap<>();

  /**
   * Begins to count.
   *
   * @param leftOut which threads, by name, do not count
   */
  ThreadAllocations(Predicate<String> leftOut) {
    this.leftOut = leftOut;
    threads =
        ManagementFactory.getThreadMXBean() instanceof ThreadMXBean counting
                && counting.isThreadAllocatedMemorySupported()
            ? counting
            : null;
    sampleInto(before);
    latest.putAll(before);
  }

  void sample() {
    sampleInto(latest);
  }

  private void sampleInto(Map<Long, Long> counts) {
    if (threads == null) {
      return;
    }
    long[] ids = threads.getAllThreadIds();
    long[] bytes = threads.getThreadAllocatedBytes(ids);
    for (int i = 0; i < ids.length; i++) {
      // -1: it has ended since it was listed.
      if (bytes[i] >= 0 && (counts.containsKey(ids[i]) || counts(ids[i]))) {
        counts.put(ids[i], bytes[i]);
      }
    }
  }

  private boolean counts(long id) {
    var thread = threads == null ? null : threads.getThreadInfo(id);
    return thread != null && !leftOut.test(thread.getThreadName());
  }

  /** Bytes allocated since this was made, until the last sample; -1 if the JVM does not count. */
  long bytes() {
    if (threads == null) {
      return -1;
    }
    long sum = 0;
    for (Map.Entry<Long, Long> thread : latest.entrySet()) {
      sum += thread.getValue() - before.getOrDefault(thread.getKey(), 0L);
    }
    return sum;
  }
}
