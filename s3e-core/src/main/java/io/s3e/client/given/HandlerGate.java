// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.given;

import io.s3e.client.Fence;
import io.s3e.client.RequestFailure;
import io.s3e.client.ResponseHandler;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a {@link ResponseHandler}'s promises where a reading thread and a cancelling one race: one
 * call at a time, exactly one terminal call, nothing after it. The end closes a {@link Fence} that
 * every other call passes, so a call that is inside makes the terminal call on its way out.
 *
 * <p>{@link #call} is for one thread at a time, {@link #end} for any. A call after the end returns
 * false, a second end is ignored.
 */
final class HandlerGate {
  private static final Logger LOG = LoggerFactory.getLogger(HandlerGate.class);

  /** A call of one of the handler's non-terminal methods. */
  interface Call {
    void on(ResponseHandler handler) throws IOException;
  }

  private final ResponseHandler handler;
  private final Runnable onEnded;
  private final Fence fence = new Fence();

  HandlerGate(ResponseHandler handler, Runnable onEnded) {
    this.handler = handler;
    this.onEnded = onEnded;
  }

  /** Makes a call, which may throw; false if the end has come before it or during it. */
  boolean call(Call call) throws IOException {
    if (!fence.enter()) {
      return false;
    }
    try {
      call.on(handler);
    } finally {
      fence.exit();
    }
    return !fence.isClosed();
  }

  /** Ends the exchange: with success if {@code outcome} is null. */
  void end(@Nullable RequestFailure outcome) {
    boolean unused = fence.close(() -> terminalCall(outcome));
  }

  boolean hasEnded() {
    return fence.isClosed();
  }

  private void terminalCall(@Nullable RequestFailure outcome) {
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
