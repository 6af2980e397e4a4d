// SPDX-License-Identifier: Apache-2.0
package io.s3e.testing;

import java.time.Duration;

/** Waits for what another thread or process brings about, never longer than a deadline. */
public final class Eventually {
  private static final Duration DEADLINE = Duration.ofSeconds(30);
  private static final long LONGEST_PAUSE_MILLIS = 10;

  private Eventually() {}

  /** Something that becomes true; asked every few ms. */
  public interface Condition<E extends Exception> {
    boolean holds() throws E;
  }

  /** As {@link #awaitTrue(String, Condition)}, where the condition says what it is about. */
  public static <E extends Exception> void awaitTrue(Condition<E> condition)
      throws E, InterruptedException {
    awaitTrue("the condition of this test", condition);
  }

  /** Throws an AssertionError that names {@code what} if it is not true after 30 s. */
  public static <E extends Exception> void awaitTrue(String what, Condition<E> condition)
      throws E, InterruptedException {
    awaitTrue(what, DEADLINE, condition);
  }

  public static <E extends Exception> void awaitTrue(
      String what, Duration deadline, Condition<E> condition) throws E, InterruptedException {
    if (!within(deadline, condition)) {
      throw new AssertionError("not true after " + deadline.toMillis() + " ms: " + what);
    }
  }

  /** Waits, and returns whether it has become true before the deadline. */
  public static <E extends Exception> boolean within(Duration deadline, Condition<E> condition)
      throws E, InterruptedException {
    long start = System.nanoTime();
    long pause = 1;
    while (!condition.holds()) {
      if (System.nanoTime() - start > deadline.toNanos()) {
        return false;
      }
      Thread.sleep(pause);
      pause = Math.min(LONGEST_PAUSE_MILLIS, 2 * pause);
    }
    return true;
  }
}
