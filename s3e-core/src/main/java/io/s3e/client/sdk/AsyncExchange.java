package io.s3e.client.sdk;

import io.s3e.client.GetRequest;
import io.s3e.client.ObjectClient;
import io.s3e.client.RequestFailure;
import io.s3e.client.ResponseHandler;
import io.s3e.client.ResponseHead;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.core.async.SdkPublisher;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/**
 * One GET of an {@link AsyncObjectClient}: takes the body from the SDK one buffer at a time and
 * shows each to the handler.
 *
 * <p>The SDK client may be configured to retry. Before a response has begun that goes unnoticed; a
 * second response would repeat {@code onHead}, so from the first one on any failure ends the
 * exchange.
 */
final class AsyncExchange
    implements ObjectClient.Exchange, AsyncResponseTransformer<GetObjectResponse, Void> {
  private final String subject;
  private final HandlerGate gate;
  private volatile boolean begun;
  private volatile @Nullable CompletableFuture<Void> attempt;

  // Written by onResponse, which happens before the body's signals.
  private long announced = -1;
  private int status;

  // Guarded by this.
  private boolean cancelled;
  private @Nullable CompletableFuture<Void> whole;

  AsyncExchange(GetRequest request, ResponseHandler handler, Consumer<AsyncExchange> onEnded) {
    subject = SdkRequests.subject(request);
    gate = new HandlerGate(handler, () -> onEnded.accept(this));
  }

  void start(S3AsyncClient s3, GetObjectRequest request) {
    CompletableFuture<Void> started;
    try {
      started = s3.getObject(request, this);
    } catch (RuntimeException e) {
      gate.end(SdkFailures.failure(subject, e));
      return;
    }
    boolean cancelNow;
    synchronized (this) {
      whole = started;
      cancelNow = cancelled;
    }
    var unused =
        started.whenComplete(
            (none, thrown) ->
                gate.end(thrown == null ? null : SdkFailures.failure(subject, thrown)));
    if (cancelNow) {
      started.cancel(true);
    }
  }

  void endUnsent(RequestFailure failure) {
    gate.end(failure);
  }

  String subject() {
    return subject;
  }

  @Override
  public void cancel() {
    synchronized (this) {
      if (cancelled || gate.hasEnded()) {
        return;
      }
    }
    CancelThreads.terminal(() -> stop(SdkFailures.cancelled(subject)));
  }

  @Override
  public CompletableFuture<Void> prepare() {
    CompletableFuture<Void> result = new CompletableFuture<>();
    attempt = result;
    return result;
  }

  @Override
  public void onResponse(GetObjectResponse response) {
    if (begun) {
      stop(SdkFailures.cancelled(subject));
      return;
    }
    begun = true;
    ResponseHead head = SdkRequests.head(response, null);
    announced = head.contentLength();
    status = head.status();
    if (status / 100 != 2) {
      stop(SdkFailures.notAnAnswer(subject, status));
      return;
    }
    try {
      gate.call(handler -> handler.onHead(head));
    } catch (Throwable e) {
      stop(SdkFailures.rejected(subject, e));
    }
  }

  @Override
  public void onStream(SdkPublisher<ByteBuffer> publisher) {
    publisher.subscribe(new Body());
  }

  @Override
  public void exceptionOccurred(Throwable error) {
    if (begun) {
      stop(SdkFailures.failure(subject, error));
    }
    fail(error);
  }

  /** Ends the exchange and drops the connection. */
  private void stop(RequestFailure failure) {
    gate.end(failure);
    CompletableFuture<Void> running;
    synchronized (this) {
      cancelled = true;
      running = whole;
    }
    fail(failure);
    if (running != null) {
      running.cancel(true);
    }
  }

  private void fail(Throwable error) {
    CompletableFuture<Void> current = attempt;
    if (current != null) {
      current.completeExceptionally(error);
    }
  }

  /** Hears the body, one buffer at a time. */
  private final class Body implements Subscriber<ByteBuffer> {
    private @Nullable Subscription subscription;
    private long received;

    @Override
    public void onSubscribe(Subscription incoming) {
      if (subscription != null || gate.hasEnded()) {
        incoming.cancel();
        return;
      }
      subscription = incoming;
      incoming.request(1);
    }

    @Override
    public void onNext(ByteBuffer chunk) {
      received += chunk.remaining();
      Subscription source = subscription;
      boolean goesOn = false;
      try {
        if (announced >= 0 && received > announced) {
          stop(SdkFailures.overlong(subject, announced));
        } else {
          goesOn = gate.call(handler -> handler.onData(chunk));
        }
      } catch (Throwable e) {
        stop(SdkFailures.rejected(subject, e));
      }
      if (source != null) {
        if (goesOn) {
          source.request(1);
        } else {
          source.cancel();
        }
      }
    }

    @Override
    public void onError(Throwable error) {
      exceptionOccurred(error);
    }

    @Override
    public void onComplete() {
      if (received < announced) {
        stop(SdkFailures.truncated(subject, received, announced));
        return;
      }
      CompletableFuture<Void> current = attempt;
      if (current != null) {
        current.complete(null);
      }
    }
  }
}
