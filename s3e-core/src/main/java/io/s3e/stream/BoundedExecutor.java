// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * One user's part of threads that others use as well: so many of its tasks are with the threads at
 * once, and each that ends makes room for the next, in order. So users take turns. Any thread.
 *
 * <p>Invariant: tasks queue here only while others are with the threads, as many as allowed or as
 * the system has threads for. What has been accepted is run, even if the threads end.
 */
public final class BoundedExecutor implements Executor {
  private final Executor threads;
  private final int most;

  // Guarded by this.
  private final Queue<Runnable> queued = new ArrayDeque<>();
  private int withThreads;

  public BoundedExecutor(Executor threads, int most) {
    this.threads = threads;
    this.most = most;
  }

  @Override
  public void execute(Runnable task) {
    synchronized (this) {
      if (withThreads == most) {
        queued.add(task);
        return;
      }
      withThreads++;
    }
    try {
      threads.execute(() -> work(task));
    } catch (RuntimeException | Error e) {
      if (e instanceof OutOfMemoryError && leaveToOthers(task)) {
        return;
      }
      // What has queued behind the place meanwhile was accepted, and there is no thread for it.
      workOn();
      throw e;
    }
  }

  /** Without a thread for it a task waits for one that works, if any does. */
  private synchronized boolean leaveToOthers(Runnable task) {
    boolean isLeft = withThreads > 1;
    if (isLeft) {
      queued.add(task);
      withThreads--;
    }
    return isLeft;
  }

  private void work(Runnable task) {
    run(task);
    workOn();
  }

  /** Hands a task's place on. Where there is no thread for the rest, this one runs it. */
  private void workOn() {
    for (Runnable next = nextOrGiveUpPlace(); next != null; next = nextOrGiveUpPlace()) {
      Runnable task = next;
      try {
        threads.execute(() -> work(task));
        return;
      } catch (RejectedExecutionException | OutOfMemoryError e) {
        // They have ended, or the system has no thread to give.
        run(task);
      }
    }
  }

  /** A task that fails keeps none behind it waiting. */
  @SuppressWarnings("IllegalCatch")
  private static void run(Runnable task) {
    try {
      task.run();
    } catch (Throwable e) {
      Thread thread = Thread.currentThread();
      thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
    }
  }

  private synchronized @Nullable Runnable nextOrGiveUpPlace() {
    Runnable next = queued.poll();
    if (next == null) {
      withThreads--;
    }
    return next;
  }
}
