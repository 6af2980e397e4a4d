// SPDX-License-Identifier: Apache-2.0
package io.s3e.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Runs one body in many threads that start together, each with its own part of one seed. */
public final class Threads {
  private static final long DEADLINE_SECONDS = 120;

  private Threads() {}

  public interface Body {
    void run(int thread, SplittableRandom random) throws Exception;
  }

  /** Whether it waits for another thread or for time to pass. */
  public static boolean isWaiting(Thread thread) {
    Thread.State state = thread.getState();
    return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
  }

  /** Returns when all bodies have; throws an AssertionError that names the seed if one failed. */
  public static void run(int threads, long seed, Body body) throws InterruptedException {
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    try {
      CountDownLatch start = new CountDownLatch(threads);
      SplittableRandom root = new SplittableRandom(seed);
      List<Future<?>> running = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        int thread = t;
        SplittableRandom random = root.split();
        running.add(
            executor.submit(
                () -> {
                  start.countDown();
                  start.await();
                  body.run(thread, random);
                  return null;
                }));
      }
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_SECONDS);
      for (Future<?> each : running) {
        each.get(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
      }
    } catch (ExecutionException e) {
      throw new AssertionError("failed with seed " + seed, e.getCause());
    } catch (TimeoutException e) {
      throw new AssertionError("not done after " + DEADLINE_SECONDS + " s, seed " + seed, e);
    } finally {
      executor.shutdownNow();
    }
  }
}
