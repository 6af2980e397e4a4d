// SPDX-License-Identifier: Apache-2.0
package io.s3e.testing;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * Time that has to pass because it is what a test is about: a server that is slow, a reader's pace,
 * a moment that is to be hit by chance. What another thread or process brings about is awaited by
 * {@link Eventually} instead. The build lets nobody else sleep in a test.
 */
public final class Pause {
  private Pause() {}

  /**
   * Sleeps.
   *
   * @param reason what the time is, for who reads the test
   */
  public static void of(Duration time, String reason) throws InterruptedException {
    Thread.sleep(time.toMillis(), time.toNanosPart() % 1_000_000);
  }

  /** As {@link #of}, in ms. */
  public static void millis(long time, String reason) throws InterruptedException {
    Thread.sleep(time);
  }

  /** A few µs, as exactly as the machine can; an interrupt ends it early. */
  public static void nanos(long time, String reason) {
    LockSupport.parkNanos(time);
  }
}
