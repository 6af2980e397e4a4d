// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;

/**
 * Lets one call at a time in until it is closed, and says when the last one is out.
 *
 * <pre>
 * IDLE ──enter──▶ BUSY ──exit──▶ IDLE
 *   │              └──close──▶ CLOSING ──exit──▶ CLOSED   (the call on its way out does what follows)
 *   └──close──▶ CLOSED                                    (the caller of close does)
 * </pre>
 *
 * <p>The first {@link #close} names what follows; it is done once, when no call is inside, so it
 * may take away the memory that the calls were touching. A call that comes later is not let in, and
 * a second close changes nothing. Calls that enter see what the ones before them wrote, and so does
 * what follows. Any thread; nobody waits.
 */
public final class Fence {
  private static final Object IDLE = "IDLE";
  private static final Object BUSY = "BUSY";
  private static final Object CLOSED = "CLOSED";

  private static final AtomicReferenceFieldUpdater<Fence, Object> STATE =
      AtomicReferenceFieldUpdater.newUpdater(Fence.class, Object.class, "state");

  /** One of the three above, or CLOSING: then it is the {@link Runnable} that follows. */
  private volatile Object state = IDLE;

  /** Lets a call in; false if the fence is closed, or another is inside against the contract. */
  public boolean enter() {
    return STATE.compareAndSet(this, IDLE, BUSY);
  }

  public void exit() {
    if (STATE.compareAndSet(this, BUSY, IDLE)) {
      return;
    }
    if (!(state instanceof Runnable then)) {
      throw new IllegalStateException("left a fence that is " + this);
    }
    state = CLOSED;
    then.run();
  }

  /** Lets nobody in any more; false if it was closed before, and {@code then} will not run. */
  public boolean close(Runnable then) {
    for (; ; ) {
      if (STATE.compareAndSet(this, IDLE, CLOSED)) {
        then.run();
        return true;
      }
      if (STATE.compareAndSet(this, BUSY, then)) {
        return true;
      }
      if (isClosed()) {
        return false;
      }
    }
  }

  /** Whether it is closed or closing. */
  public boolean isClosed() {
    Object now = state;
    return now != IDLE && now != BUSY;
  }

  @Override
  public String toString() {
    Object now = state;
    return now instanceof Runnable ? "CLOSING" : now.toString();
  }
}
