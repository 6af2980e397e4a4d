package io.s3e.client.sdk;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * One daemon thread of the JVM that makes the terminal calls of cancelled exchanges, so that {@code
 * cancel()} never runs a handler on the thread that cancels, which may hold locks of its own. It
 * ends after some seconds without work.
 */
final class CancelThread {
  private static final ThreadPoolExecutor EXECUTOR = executor();

  private CancelThread() {}

  static void execute(Runnable task) {
    EXECUTOR.execute(task);
  }

  private static ThreadPoolExecutor executor() {
    ThreadPoolExecutor executor =
        new ThreadPoolExecutor(
            1,
            1,
            5,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> {
              Thread thread = new Thread(task, "s3e-cancel");
              thread.setDaemon(true);
              return thread;
            });
    executor.allowCoreThreadTimeOut(true);
    return executor;
  }
}
