package io.s3e.fetch;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The clock of all fetches of an engine: one thread for the pauses between attempts and for the
 * silence of attempts, which it looks at every {@value #TICK_MILLIS} ms. Any thread may call.
 */
public final class FetchTimer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(FetchTimer.class);

  private static final long TICK_MILLIS = 100;

  /** A look at the disk is some turns of threads, each of which may come so late. */
  private static final int LATENESS_FACTOR = 4;

  private final Set<RunFetch> running = ConcurrentHashMap.newKeySet();
  private final ScheduledThreadPoolExecutor executor;

  // The timer's alone.
  private long tickedNanos = System.nanoTime();
  private long lateNanos;

  public FetchTimer() {
    executor =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "s3e-timer");
              thread.setDaemon(true);
              return thread;
            });
    executor.setRemoveOnCancelPolicy(true);
    executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    Future<?> unused =
        executor.scheduleWithFixedDelay(
            this::tick, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** From now on the run's deadlines are looked at. */
  void started(RunFetch run) {
    running.add(run);
  }

  /** The run is over. */
  void ended(RunFetch run) {
    running.remove(run);
  }

  /** All runs that are under way. */
  Set<RunFetch> running() {
    return running;
  }

  /** Runs {@code task} on the timer after {@code nanos} ns; false if the engine is closing. */
  boolean later(Runnable task, long nanos) {
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
    long now = System.nanoTime();
    // A machine that keeps this thread waiting does the same to those of the disk.
    long late = Math.max(0, now - tickedNanos - TimeUnit.MILLISECONDS.toNanos(TICK_MILLIS));
    tickedNanos = now;
    lateNanos = Math.max(late, lateNanos - lateNanos / 4);
    for (RunFetch run : running) {
      try {
        run.checkDeadline(now, LATENESS_FACTOR * lateNanos);
      } catch (Throwable e) {
        LOG.warn("Deadline check of {} failed", run, e);
      }
    }
  }

  /** Ends the thread; what waits for its time never runs. Idempotent. */
  @Override
  public void close() {
    executor.shutdownNow();
  }
}
