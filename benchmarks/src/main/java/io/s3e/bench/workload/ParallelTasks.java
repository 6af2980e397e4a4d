// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/** The threads of one run of a workload: one for each task, and gone when the run ends. */
final class ParallelTasks {

  /** The task of one thread. */
  interface Task {
    /**
     * @param index of the thread, from 0
     * @param stopped true once another thread has failed: nothing more is worth reading
     * @throws Exception to fail the run and stop the other threads
     */
    void run(int index, BooleanSupplier stopped) throws Exception;
  }

  private ParallelTasks() {}

  /**
   * Runs a task on each of some threads and waits for all of them.
   *
   * @throws Exception the first failure, with the others suppressed
   */
  static void run(int threads, Task task) throws Exception {
    AtomicBoolean stop = new AtomicBoolean();
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    try {
      List<Future<?>> futures = new ArrayList<>();
      for (int thread = 0; thread < threads; thread++) {
        int index = thread;
        futures.add(
            executor.submit(
                () -> {
                  boolean done = false;
                  try {
                    task.run(index, stop::get);
                    done = true;
                  } finally {
                    if (!done) {
                      stop.set(true);
                    }
                  }
                  return null;
                }));
      }
      awaitAll(futures);
    } finally {
      executor.shutdownNow();
    }
  }

  private static void awaitAll(List<Future<?>> tasks) throws Exception {
    Exception first = null;
    for (Future<?> task : tasks) {
      try {
        task.get();
      } catch (ExecutionException e) {
        Exception cause = e.getCause() instanceof Exception x ? x : e;
        if (first == null) {
          first = cause;
        } else if (first != cause) {
          first.addSuppressed(cause);
        }
      }
    }
    if (first != null) {
      throw first;
    }
  }
}
