// SPDX-License-Identifier: Apache-2.0
package io.s3e.jvm;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Work that others wait for no longer than they can afford, on threads of its own. */
public final class Background {
  private static final AtomicInteger NUMBER = new AtomicInteger();
  private static final long IDLE_SECONDS = 10;

  private Background() {}

  /** Starts daemon work. */
  public static Thread start(String name, Runnable work) {
    Thread thread = daemon(name, work);
    thread.start();
    return thread;
  }

  /** A daemon thread that has not been started. */
  public static Thread daemon(String name, Runnable work) {
    // Nothing of the application that happens to read first stays with the engine.
    Thread thread = new Thread(null, work, name, 0, false);
    thread.setContextClassLoader(Background.class.getClassLoader());
    thread.setDaemon(true);
    return thread;
  }

  /** So many daemon threads, gone when idle; the tasks that they have no time for wait in order. */
  public static ThreadPoolExecutor pool(String prefix, int threads) {
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            threads,
            threads,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> daemon(prefix + NUMBER.incrementAndGet(), task));
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  /** Says a line by the log. What a log throws concerns nobody else. */
  @SuppressWarnings("IllegalCatch")
  public static void log(Runnable line) {
    try {
      line.run();
    } catch (Throwable e) {
      // There is nobody to tell.
    }
  }

  /** As {@link #log}, on a thread of its own: a log may hang. Here, where there is no thread. */
  public static void logApart(Runnable line) {
    try {
      Thread unused = start("s3e-log", () -> log(line));
    } catch (OutOfMemoryError e) {
      log(line);
    }
  }

  /** Waits so many ms for a thread to end, and keeps interrupts for the caller; whether it has. */
  public static boolean await(Thread thread, long millis) {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    try {
      TimeUnit.MILLISECONDS.timedJoin(thread, millis);
    } catch (InterruptedException e) {
      boolean ended = await(thread, TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime()));
      Thread.currentThread().interrupt();
      return ended;
    }
    return !thread.isAlive();
  }
}
