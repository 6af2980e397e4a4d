// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.jvm.Background;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The clock of an engine: one thread for the pauses between attempts, and for deadlines, of
 * attempts, reads from disk and vectored reads, which it looks at every {@value #TICK_MILLIS} ms.
 * Any thread may call.
 */
public final class FetchTimer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(FetchTimer.class);

  private static final long TICK_MILLIS = 100;

  /** A look at the disk is some turns of threads, each of which may come so late. */
  private static final int LATENESS_FACTOR = 4;

  /** Those that have deadlines; looked at on the timer's thread, which they must not hold up. */
  public interface Watched {
    /** At {@code now} threads wait {@code lateNanos} ns longer than usual for a processor. */
    void tick(long now, long lateNanos);
  }

  private final Set<Watched> watched = ConcurrentHashMap.newKeySet();
  private final ScheduledThreadPoolExecutor executor;

  // Written by the timer alone.
  private volatile long tickedNanos = System.nanoTime();
  private volatile long stoodStillNanos = tickedNanos;
  private long lateNanos;

  public FetchTimer() {
    executor = new ScheduledThreadPoolExecutor(1, task -> Background.daemon("s3e-timer", task));
    executor.setRemoveOnCancelPolicy(true);
    executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    Future<?> unused =
        executor.scheduleWithFixedDelay(
            this::tick, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
  }

  public void watch(Watched one) {
    watched.add(one);
  }

  public void forget(Watched one) {
    watched.remove(one);
  }

  /** Whether nothing may have run for more than a moment since then. */
  boolean stoodStillSince(long nanos) {
    return System.nanoTime() - tickedNanos > Patience.MOMENT_NANOS || stoodStillNanos - nanos > 0;
  }

  /** Runs {@code task} on the timer after {@code nanos} ns; false if the engine is closing. */
  public boolean later(Runnable task, long nanos) {
    try {
      return !executor.schedule(task, nanos, TimeUnit.NANOSECONDS).isCancelled()
          && !executor.isShutdown();
    } catch (RejectedExecutionException e) {
      return false;
    }
  }

  // An error would end the ticking as well, and with it every run's deadline.
  @SuppressWarnings("IllegalCatch")
  private void tick() {
    try {
      long now = System.nanoTime();
      // A machine that keeps this thread waiting does the same to those of the disk.
      long late = Math.max(0, now - tickedNanos - TimeUnit.MILLISECONDS.toNanos(TICK_MILLIS));
      stoodStillNanos = late > Patience.MOMENT_NANOS ? now : stoodStillNanos;
      tickedNanos = now;
      lateNanos = Math.max(late, lateNanos - lateNanos / 4);
      for (Watched one : watched) {
        try {
          one.tick(now, LATENESS_FACTOR * lateNanos);
        } catch (Throwable e) {
          Background.log(() -> LOG.warn("A look at the deadlines of {} failed", one, e));
        }
      }
    } catch (Throwable e) {
      // The next look is soon.
    }
  }

  /** Ends the thread; what waits for its time never runs. Idempotent. */
  @Override
  public void close() {
    executor.shutdownNow();
  }
}
