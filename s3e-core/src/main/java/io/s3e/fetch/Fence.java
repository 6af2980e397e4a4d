package io.s3e.fetch;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Lets one call at a time in until it is closed, and says when the last one is out.
 *
 * <p>States: IDLE, BUSY while a call is inside, CLOSING if it was closed meanwhile, CLOSED. {@link
 * #close} runs what follows once no call is inside: at once, or by the call on its way out. So what
 * follows may take away whatever the calls were touching. Any thread; nobody waits.
 */
final class Fence {
  private static final int IDLE = 0;
  private static final int BUSY = 1;
  private static final int CLOSING = 2;
  private static final int CLOSED = 3;

  private final AtomicInteger state = new AtomicInteger(IDLE);

  /** What follows the closing; set by the one call that closes. */
  private final AtomicReference<@Nullable Runnable> afterwards = new AtomicReference<>();

  /**
   * Lets a call in; false if the fence is closed, or another call is inside against the contract.
   */
  boolean enter() {
    return state.compareAndSet(IDLE, BUSY);
  }

  /** The call that entered leaves. */
  void exit() {
    if (!state.compareAndSet(BUSY, IDLE)) {
      state.set(CLOSED);
      Objects.requireNonNull(afterwards.get()).run();
    }
  }

  /** Lets nobody in any more; false if somebody else has closed it, whose {@code then} runs. */
  boolean close(Runnable then) {
    if (!afterwards.compareAndSet(null, then)) {
      return false;
    }
    for (; ; ) {
      if (state.compareAndSet(IDLE, CLOSED)) {
        then.run();
        return true;
      }
      if (state.compareAndSet(BUSY, CLOSING)) {
        return true;
      }
    }
  }

  /** Whether it is closed or closing. */
  boolean isClosed() {
    return state.get() >= CLOSING;
  }
}
