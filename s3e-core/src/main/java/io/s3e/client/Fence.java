// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;

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
  /** One of the four states; CLOSING holds what follows. */
  private static final class State {
    final String name;
    final @Nullable Runnable then;

    State(String name, @Nullable Runnable then) {
      this.name = name;
      this.then = then;
    }
  }

  private static final State IDLE = new State("IDLE", null);
  private static final State BUSY = new State("BUSY", null);
  private static final State CLOSED = new State("CLOSED", null);

  private static final AtomicReferenceFieldUpdater<Fence, State> STATE =
      AtomicReferenceFieldUpdater.newUpdater(Fence.class, State.class, "state");

  private volatile State state = IDLE;

  /**
   * Lets a call in; false if the fence is closed, or another call is inside against the contract.
   */
  public boolean enter() {
    return STATE.compareAndSet(this, IDLE, BUSY);
  }

  public void exit() {
    if (STATE.compareAndSet(this, BUSY, IDLE)) {
      return;
    }
    State closing = state;
    Runnable then = closing.then;
    if (then == null) {
      throw new IllegalStateException("left a fence that is " + closing.name);
    }
    state = CLOSED;
    then.run();
  }

  /** Lets nobody in any more; false if it was closed before, and {@code then} will not run. */
  public boolean close(Runnable then) {
    State closing = new State("CLOSING", then);
    for (; ; ) {
      if (STATE.compareAndSet(this, IDLE, CLOSED)) {
        then.run();
        return true;
      }
      if (STATE.compareAndSet(this, BUSY, closing)) {
        return true;
      }
      if (isClosed()) {
        return false;
      }
    }
  }

  /** Whether it is closed or closing. */
  public boolean isClosed() {
    State now = state;
    return now != IDLE && now != BUSY;
  }

  @Override
  public String toString() {
    return state.name;
  }
}
