// SPDX-License-Identifier: Apache-2.0
package io.s3e.fault;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * How many GETs may be sent a second time because the first is late: {@value #FIRST} from the
 * start, two in a hundred of those that are sent, and none for a while after the store has asked to
 * slow down. Some are saved up for a moment in which several are late. Any thread.
 *
 * <p>Dean and Barroso, "The Tail at Scale" (CACM 56, 2013): second requests after the 95th
 * percentile cost a few per cent of load and take most of the tail away.
 */
public final class HedgeBudget {
  /** GETs that earn one hedge. */
  private static final long GETS_A_HEDGE = 50;

  /** Hedges that need not be earned: the first GET of all may hang. */
  private static final long FIRST = 2;

  private static final long MOST_SAVED = 10;

  private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final LongSupplier nanoClock;

  // Guarded by this.
  /** Savings in GETs. */
  private long saved = FIRST * GETS_A_HEDGE;

  private long quietUntilNanos;

  public HedgeBudget(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
    this.quietUntilNanos = nanoClock.getAsLong();
  }

  /** A GET is sent that is no hedge. */
  public synchronized void sent() {
    saved = Math.min(saved + 1, MOST_SAVED * GETS_A_HEDGE);
  }

  public synchronized void throttled() {
    quietUntilNanos = nanoClock.getAsLong() + QUIET_NANOS;
  }

  /** Whether a hedge may be sent now; it is paid for then. */
  public synchronized boolean tryTake() {
    boolean mayTake = saved >= GETS_A_HEDGE && nanoClock.getAsLong() - quietUntilNanos >= 0;
    saved -= mayTake ? GETS_A_HEDGE : 0;
    return mayTake;
  }
}
