// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.crt;

import io.s3e.jvm.Background;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A question that is asked once for all who want its answer while it is under way.
 *
 * <p>States, moved under this object's monitor: IDLE (no waiters) ──join──▶ UNDER_WAY ──land──▶
 * IDLE. The caller whose {@link #join} began the flight sees to it that {@link #land} is called.
 * Another thread may land before; then an answer that comes late finds no waiter of that flight. A
 * question that has been under way for {@link #LONGEST} may hang for good: whoever joins then asks
 * once more, and the first answer is that of all. Waiters run outside of the monitor, on the thread
 * that lands.
 *
 * @param <T> the answer, which may be null
 */
final class SingleFlight<T> {
  private static final Logger LOG = LoggerFactory.getLogger(SingleFlight.class);

  /** Longer than sources of credentials take that time out by themselves. */
  private static final Duration LONGEST = Duration.ofMinutes(2);

  // Guarded by this; null while no question is under way.
  private @Nullable List<Consumer<@Nullable T>> waiters;

  /** When the last question was begun, by {@link System#nanoTime()}. Written with the lock. */
  volatile long begunNanos;

  /** Has the waiter, if any, told the answer to come; whether the caller has to ask for it. */
  synchronized boolean join(@Nullable Consumer<@Nullable T> waiter) {
    long now = System.nanoTime();
    boolean asks = waiters == null || now - begunNanos > LONGEST.toNanos();
    begunNanos = asks ? now : begunNanos;
    List<Consumer<@Nullable T>> joined = waiters == null ? new ArrayList<>() : waiters;
    if (waiter != null) {
      joined.add(waiter);
    }
    waiters = joined;
    return asks;
  }

  /** Ends the flight and tells the answer to all who have joined. */
  void land(@Nullable T answer) {
    List<Consumer<@Nullable T>> told;
    synchronized (this) {
      told = waiters == null ? List.of() : waiters;
      waiters = null;
    }
    for (Consumer<@Nullable T> waiter : told) {
      try {
        waiter.accept(answer);
      } catch (RuntimeException | Error e) {
        // The others are to be told all the same.
        Background.log(() -> LOG.error("One of {} waiters failed", told.size(), e));
      }
    }
  }
}
