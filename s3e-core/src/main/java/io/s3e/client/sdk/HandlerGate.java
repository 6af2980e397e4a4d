package io.s3e.client.sdk;

import io.s3e.client.RequestFailure;
import io.s3e.client.ResponseHandler;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a {@link ResponseHandler}'s promises where a reading thread and a cancelling one race: one
 * call at a time, exactly one terminal call, nothing after it.
 *
 * <pre>
 * IDLE ──call──▶ CALLING ──return──▶ IDLE
 *   │               └──end──▶ ENDING ──return──▶ ENDED   (the caller makes the terminal call)
 *   └──end──▶ ENDED                                      (the one who ends makes it)
 * </pre>
 *
 * {@link #call} is for one thread at a time, {@link #end} for any. Whoever loses a race does
 * nothing: a call after the end returns false, a second end is ignored.
 */
final class HandlerGate {
  private static final Logger LOG = LoggerFactory.getLogger(HandlerGate.class);

  private static final int IDLE = 0;
  private static final int CALLING = 1;
  private static final int ENDING = 2;
  private static final int ENDED = 3;

  /** A call of one of the handler's non-terminal methods. */
  interface Call {
    void on(ResponseHandler handler) throws IOException;
  }

  private final ResponseHandler handler;
  private final Runnable onEnded;
  private final AtomicInteger state = new AtomicInteger(IDLE);

  /** Written before the move to ENDING or ENDED, read after it, by the one terminal call. */
  private volatile @Nullable RequestFailure failure;

  /**
   * @param onEnded run once, after the terminal call
   */
  HandlerGate(ResponseHandler handler, Runnable onEnded) {
    this.handler = handler;
    this.onEnded = onEnded;
  }

  /**
   * Makes a call unless the end has come.
   *
   * @return false if it has come, before or during the call
   * @throws IOException what the handler threw
   */
  boolean call(Call call) throws IOException {
    if (!state.compareAndSet(IDLE, CALLING)) {
      return false;
    }
    try {
      call.on(handler);
    } finally {
      if (!state.compareAndSet(CALLING, IDLE)) {
        state.set(ENDED);
        terminalCall();
      }
    }
    return state.get() == IDLE;
  }

  /** Ends the exchange: with success if {@code outcome} is null. */
  void end(@Nullable RequestFailure outcome) {
    synchronized (this) {
      if (state.get() >= ENDING) {
        return;
      }
      failure = outcome;
      // The reading thread may move between IDLE and CALLING meanwhile, so try until one holds.
      while (!state.compareAndSet(IDLE, ENDED)) {
        if (state.compareAndSet(CALLING, ENDING)) {
          return;
        }
      }
    }
    terminalCall();
  }

  boolean hasEnded() {
    return state.get() >= ENDING;
  }

  private void terminalCall() {
    RequestFailure outcome = failure;
    try {
      if (outcome == null) {
        handler.onDone();
      } else {
        handler.onFailure(outcome);
      }
    } catch (Throwable e) {
      LOG.error("A handler failed in its terminal call", e);
    } finally {
      onEnded.run();
    }
  }
}
