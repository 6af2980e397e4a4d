// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import java.util.concurrent.CountDownLatch;

/**
 * Holds the timer of an engine: nothing that it would look at is looked at until this is closed. No
 * function, which the first read of a JVM would be weighed with.
 */
public final class HeldTimer implements AutoCloseable {
  private final CountDownLatch held = new CountDownLatch(1);
  private final CountDownLatch end = new CountDownLatch(1);

  private final class Hold implements Runnable {
    @Override
    public void run() {
      held.countDown();
      try {
        end.await();
      } catch (InterruptedException e) {
        // The engine is closed.
        Thread.currentThread().interrupt();
      }
    }
  }

  private HeldTimer() {}

  /** Returns once the timer of the stream's engine does nothing else. */
  public static HeldTimer of(S3EInputStream in) throws InterruptedException {
    HeldTimer timer = new HeldTimer();
    if (!in.reader.fetcher.tenant.timer.later(timer.new Hold(), 0)) {
      throw new IllegalStateException("the engine is closed");
    }
    timer.held.await();
    return timer;
  }

  @Override
  public void close() {
    end.countDown();
  }
}
