// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The activity beside a run until it is closed: daemon threads, and the readers they read through.
 * It ends in this order: the threads are told, their readers are closed, the threads are
 * interrupted and waited for. Each step has a deadline, for some workloads measure a store that
 * hangs; a thread that has not ended then ends with the JVM.
 *
 * <p>One thread begins and closes it.
 */
final class Background implements AutoCloseable {

  /** The work that a thread repeats; an exception of it is a failure of the run. */
  @FunctionalInterface
  interface Step {
    void run() throws Exception;
  }

  private static final long END_PATIENCE_MILLIS = 10_000;

  private final List<Closeable> resources = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();
  private volatile boolean stopping;

  /** Closes something at the end, the last first. */
  <T extends Closeable> T owns(T resource) {
    resources.add(resource);
    return resource;
  }

  /** Begins a thread that repeats a step until the end. */
  void repeat(String name, Step step) {
    Thread thread = new Thread(() -> repeatUntilStopped(step), name);
    thread.setDaemon(true);
    threads.add(thread);
    thread.start();
  }

  private void repeatUntilStopped(Step step) {
    try {
      while (!stopping) {
        step.run();
      }
    } catch (Exception e) {
      if (!stopping) {
        failure.compareAndSet(null, e);
      }
    }
  }

  /**
   * Tells whether all threads still do what they were begun for.
   *
   * @throws IOException when one of them has failed
   */
  void checkDisturbs() throws IOException {
    Exception failed = failure.get();
    if (failed instanceof WrongBytesException wrong) {
      throw wrong;
    }
    if (failed != null) {
      throw new IOException("What was to disturb the reader has failed: " + failed, failed);
    }
  }

  @Override
  public void close() throws InterruptedException {
    stopping = true;
    Thread closer = new Thread(this::closeResources, "background-close");
    closer.setDaemon(true);
    closer.start();
    closer.join(END_PATIENCE_MILLIS);
    threads.forEach(Thread::interrupt);
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(END_PATIENCE_MILLIS);
    for (Thread thread : threads) {
      thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime())));
    }
  }

  private void closeResources() {
    for (int i = resources.size() - 1; i >= 0; i--) {
      try {
        resources.get(i).close();
      } catch (IOException e) {
        // A stream whose read was cut off may say so. The measurement is over.
        e.printStackTrace(System.err);
      }
    }
  }
}
