// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.given;

import io.s3e.client.Fence;
import io.s3e.client.GetRequest;
import io.s3e.client.ObjectClient;
import io.s3e.client.RequestFailure;
import io.s3e.client.ResponseHandler;
import io.s3e.client.ResponseHead;
import io.s3e.jvm.Background;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/**
 * One GET of a {@link SyncObjectClient}: a task for one pool thread, which alone calls the handler,
 * except for the terminal call of a cancelled exchange. The end, by any thread, closes a {@link
 * Fence} that every other call passes, so a call that is inside makes the terminal call on its way
 * out; a second end is ignored.
 *
 * <p>The body is read to its end or the connection is dropped; nothing is ever drained.
 */
final class SyncExchange implements ObjectClient.Exchange, Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(SyncExchange.class);

  /** One read of the body. As large as a socket receive buffer usually gets; no larger helps. */
  private static final int CHUNK_BYTES = 64 << 10;

  private static final ThreadLocal<byte[]> CHUNK =
      ThreadLocal.withInitial(() -> new byte[CHUNK_BYTES]);

  /** A call of one of the handler's non-terminal methods. */
  interface Call {
    void on(ResponseHandler handler) throws IOException;
  }

  private final BlockingStore store;
  private final GetRequest request;
  private final String subject;
  private final ResponseHandler handler;
  private final Consumer<SyncExchange> onEnded;
  private final Fence fence = new Fence();

  // Guarded by this.
  private boolean cancelled;
  private @Nullable ResponseInputStream<GetObjectResponse> body;

  SyncExchange(
      BlockingStore store,
      GetRequest request,
      ResponseHandler handler,
      Consumer<SyncExchange> onEnded) {
    this.store = store;
    this.request = request;
    subject = request.subject();
    this.handler = handler;
    this.onEnded = onEnded;
  }

  @Override
  public void cancel() {
    ResponseInputStream<GetObjectResponse> open;
    synchronized (this) {
      if (cancelled || fence.isClosed()) {
        return;
      }
      cancelled = true;
      open = body;
    }
    try {
      // The caller may hold locks, and some clients read the rest before they drop a connection.
      Thread unused =
          Background.start(
              "s3e-cancel",
              () -> {
                end(RequestFailure.cancelled(subject));
                if (open != null) {
                  open.abort();
                }
              });
    } catch (OutOfMemoryError e) {
      // No thread: the one that reads finds the fence closed, and aborts.
      end(RequestFailure.cancelled(subject));
    }
  }

  @Override
  public void run() {
    ResponseInputStream<GetObjectResponse> opened = null;
    RequestFailure failure = null;
    try {
      if (!call(ResponseHandler::onSent)) {
        return;
      }
      opened = store.get(request);
      failure = keep(opened) ? transfer(opened) : RequestFailure.cancelled(subject);
    } catch (Throwable e) {
      // Errors, too: nobody else would end the exchange and let the connection go.
      failure = RequestFailure.broken(subject, "its failure cannot be told");
      failure = SdkFailures.failure(subject, e);
    } finally {
      try {
        if (opened != null) {
          drop(opened, failure == null);
        }
      } finally {
        // What breaks after cancelling broke because of it.
        end(failure != null && isCancelled() ? RequestFailure.cancelled(subject) : failure);
      }
    }
  }

  private synchronized boolean isCancelled() {
    return cancelled;
  }

  /** Ends the exchange: with success if {@code outcome} is null. */
  void end(@Nullable RequestFailure outcome) {
    boolean unused = fence.close(() -> terminalCall(outcome));
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
      onEnded.accept(this);
    }
  }

  /** Makes the stream known to {@link #cancel}; false if that came first. */
  private synchronized boolean keep(ResponseInputStream<GetObjectResponse> opened) {
    body = opened;
    return !cancelled;
  }

  private @Nullable RequestFailure transfer(ResponseInputStream<GetObjectResponse> in)
      throws IOException {
    ResponseHead head = SdkRequests.head(in.response());
    if (head.status() / 100 != 2) {
      // The SDK throws for refusals, so this status is none: the answer was not HTTP.
      return RequestFailure.broken(subject, "what came is no answer, status " + head.status());
    }
    RequestFailure refusal = tell(handler -> handler.onHead(head));
    byte[] chunk = CHUNK.get();
    long announced = head.contentLength();
    long received = 0;
    while (refusal == null) {
      int count = in.read(chunk, 0, chunk.length);
      if (count < 0) {
        return received >= announced
            ? null
            : RequestFailure.broken(
                subject, "the body ended after " + received + " of " + announced + " bytes");
      }
      received += count;
      if (announced >= 0 && received > announced) {
        // Not every HTTP client stops there.
        return RequestFailure.broken(subject, "the body goes on after its " + announced + " bytes");
      }
      ByteBuffer bytes = ByteBuffer.wrap(chunk, 0, count);
      refusal = tell(handler -> handler.onData(bytes));
    }
    return refusal;
  }

  /** Tells the handler; null if it wants more. */
  private @Nullable RequestFailure tell(Call call) {
    try {
      return call(call) ? null : RequestFailure.cancelled(subject);
    } catch (Throwable e) {
      return SdkFailures.rejected(subject, e);
    }
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

  private void drop(ResponseInputStream<GetObjectResponse> in, boolean whole) {
    synchronized (this) {
      body = null;
    }
    if (!whole) {
      in.abort();
      return;
    }
    try {
      in.close();
    } catch (IOException | RuntimeException e) {
      // The body is complete; a connection that cannot be given back is dropped.
      in.abort();
    }
  }
}
