// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Times the application's calls, counts its bytes, and knows which calls are still out, for the
 * watchdog and the progress bar. Any thread; a call is begun and ended by the same thread.
 */
final class ReadMonitor {

  /**
   * A call that has not returned.
   *
   * @param what the call, for a person
   * @param position of the first byte; -1 when it is no read
   * @param length bytes it is to bring
   * @param thread that waits
   * @param startNanos since when
   */
  record Pending(String what, long position, long length, Thread thread, long startNanos) {
    @Override
    public String toString() {
      return position < 0 ? what : "%s of %d bytes at %d".formatted(what, length, position);
    }
  }

  private static final int FIRST_CAPACITY = 1024;

  private final Map<Thread, Pending> pending = new ConcurrentHashMap<>();
  private final LongAdder bytes = new LongAdder();
  private final LongAdder calls = new LongAdder();
  private final LongAdder nanosInCalls = new LongAdder();
  private long[] latencies = new long[FIRST_CAPACITY];
  private int count;

  /** The calling thread begins a call that is no read of certain bytes. */
  void begin(String what) {
    begin(what, -1, 0);
  }

  /** The calling thread begins a read. */
  void begin(String what, long position, long length) {
    Thread thread = Thread.currentThread();
    pending.put(thread, new Pending(what, position, length, thread, System.nanoTime()));
  }

  /** It ended well, and brought so many bytes that the application wanted. */
  void endRead(long used) {
    endReads(1, used);
  }

  /**
   * So many calls ended well, one after the other, and brought so many bytes: too short to be timed
   * each, they get one latency, which is the mean of theirs.
   */
  void endReads(long ended, long used) {
    add(forget() / ended, ended, used);
  }

  /** A call that no thread waited in ended well, after so long, and brought so many bytes. */
  void add(long nanos, long used) {
    add(nanos, 1, used);
  }

  private void add(long nanos, long ended, long used) {
    bytes.add(used);
    calls.add(ended);
    synchronized (this) {
      if (count == latencies.length) {
        latencies = Arrays.copyOf(latencies, 2 * count);
      }
      latencies[count++] = nanos;
    }
  }

  /** It ended, well or not, and is not to be timed: an open, a close, a call that threw. */
  void end() {
    forget();
  }

  private long forget() {
    Pending call = pending.remove(Thread.currentThread());
    if (call == null) {
      return 0;
    }
    long nanos = System.nanoTime() - call.startNanos();
    nanosInCalls.add(nanos);
    return nanos;
  }

  /** Time that threads spent in calls, timed or not, each thread's counted. */
  long nanosInCalls() {
    return nanosInCalls.sum();
  }

  long bytesUsed() {
    return bytes.sum();
  }

  /** A call that has been out for longer than this, or null. */
  @Nullable Pending overdue(long limitNanos) {
    long now = System.nanoTime();
    for (Pending call : pending.values()) {
      if (now - call.startNanos() > limitNanos) {
        return call;
      }
    }
    return null;
  }

  long reads() {
    return calls.sum();
  }

  /** How many calls took longer than this; -1 when not each of them was timed. */
  synchronized long slowerThan(long nanos) {
    if (count != calls.sum()) {
      return -1;
    }
    return Arrays.stream(latencies, 0, count).filter(latency -> latency > nanos).count();
  }

  /** How many times were taken so far: where the times of a part begin. */
  synchronized int timed() {
    return count;
  }

  /**
   * Time that this share of the calls did not exceed, in nanoseconds; -1 when there were none.
   *
   * @param quantile between 0 and 1
   */
  long latency(double quantile) {
    return latency(quantile, 0);
  }

  /**
   * The same of the calls after the first {@code from} that were timed.
   *
   * @param from of {@link #timed}
   */
  synchronized long latency(double quantile, int from) {
    if (count == from) {
      return -1;
    }
    long[] sorted = Arrays.copyOfRange(latencies, from, count);
    Arrays.sort(sorted);
    int most = sorted.length - 1;
    return sorted[Math.min(most, (int) Math.floor(quantile * sorted.length))];
  }
}
