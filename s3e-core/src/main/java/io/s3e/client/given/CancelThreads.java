package io.s3e.client.given;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Daemon threads of the JVM for the two halves of cancelling, both kept off the thread that
 * cancels, which may hold locks of its own. Terminal calls run on one thread, since handlers do not
 * block. Dropping a connection may block (the JDK's HTTP client first tries to read the rest), so
 * that has as many threads as it needs. All end after some seconds without work.
 */
final class CancelThreads {
  private static final ThreadPoolExecutor TERMINAL =
      executor("s3e-cancel", 1, new LinkedBlockingQueue<>());
  private static final ThreadPoolExecutor ABORT =
      executor("s3e-abort", Integer.MAX_VALUE, new SynchronousQueue<>());

  private CancelThreads() {}

  /** Runs something that calls a handler and does not block. */
  static void terminal(Runnable task) {
    TERMINAL.execute(task);
  }

  /** Runs something that may block. */
  static void abort(Runnable task) {
    ABORT.execute(task);
  }

  private static ThreadPoolExecutor executor(
      String name, int threads, BlockingQueue<Runnable> queue) {
    ThreadPoolExecutor executor =
        new ThreadPoolExecutor(
            1,
            threads,
            5,
            TimeUnit.SECONDS,
            queue,
            task -> {
              Thread thread = new Thread(task, name);
              thread.setDaemon(true);
              return thread;
            });
    executor.allowCoreThreadTimeOut(true);
    return executor;
  }
}
