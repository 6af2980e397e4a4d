// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.hadoop33;

import io.s3e.client.ForwardingClient;
import io.s3e.client.ForwardingHandler;
import io.s3e.client.GetRequest;
import io.s3e.client.ObjectClient;
import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.client.ResponseHandler;
import io.s3e.client.ResponseHead;
import io.s3e.client.fallback.FallbackClient;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * S3E's client, which is in doubt until it has reached the store once. Until then {@value
 * FallbackClient#FAILURES_TO_DOUBT} failures in transport in a row, or {@link
 * FallbackClient#PATIENCE} of silence and a little more for each byte, fail a GET for good, by an
 * {@link Unreached}: its reader need not wait for the whole of its own patience before S3A's stream
 * reads. An answer, whatever its status, ends the doubt, and failures in transport are the fetch
 * layer's to repeat from then on. Any thread.
 *
 * <p>The core's {@link FallbackClient} does the same before a client that reads in its place. Here
 * S3A's stream does, which is no client.
 */
final class FirstContact implements ForwardingClient {
  private final ObjectClient client;
  private final Runnable onReached;
  private final AtomicInteger failuresInRow = new AtomicInteger();
  private volatile boolean hasReached;

  /**
   * @param onReached runs when the store has answered for the first time, and may run again soon
   *     after; must not block
   */
  FirstContact(ObjectClient client, Runnable onReached) {
    this.client = client;
    this.onReached = onReached;
  }

  /** The client in doubt has not reached the store, and nothing is sent again. */
  static final class Unreached extends IOException {
    private static final long serialVersionUID = 1L;

    Unreached(RequestFailure last) {
      super(last.getMessage(), last);
    }
  }

  @Override
  public ObjectClient client() {
    return client;
  }

  @Override
  public Exchange get(GetRequest request, ResponseHandler handler) {
    return hasReached ? client.get(request, handler) : new Trial(request, handler).begin();
  }

  private void reached() {
    if (!hasReached) {
      hasReached = true;
      onReached.run();
    }
  }

  /** One GET of the client in doubt. */
  private final class Trial implements ForwardingHandler {
    private final GetRequest request;
    private final ResponseHandler handler;
    private final CompletableFuture<Exchange> exchange = new CompletableFuture<>();

    /** Completes when the answer is awaited no more: the timer goes then, and all that it holds. */
    private final CompletableFuture<Boolean> settled = new CompletableFuture<>();

    private volatile boolean isLate;

    Trial(GetRequest request, ResponseHandler handler) {
      this.request = request;
      this.handler = handler;
    }

    @Override
    public ResponseHandler handler() {
      return handler;
    }

    Exchange begin() {
      var unused =
          settled
              .orTimeout(patienceNanos(), TimeUnit.NANOSECONDS)
              .exceptionallyAsync(
                  timeout -> {
                    tooLate();
                    return false;
                  });
      Exchange sent = client.get(request, this);
      exchange.complete(sent);
      return sent;
    }

    private long patienceNanos() {
      return FallbackClient.PATIENCE.toNanos()
          + request.range().length() * FallbackClient.NANOS_PER_SLOW_BYTE;
    }

    /** The handler hears of it when the client is through. */
    private void tooLate() {
      isLate = true;
      var unused = exchange.thenAccept(Exchange::cancel);
    }

    @Override
    public void onHead(ResponseHead head) throws IOException {
      reached();
      settled.complete(true);
      handler.onHead(head);
    }

    @Override
    public void onFailure(RequestFailure failure) {
      settled.complete(true);
      if (failure.answer() != null) {
        reached();
      }
      handler.onFailure(hasReached ? failure : judged(failure));
    }

    private RequestFailure judged(RequestFailure failure) {
      return switch (failure.kind()) {
        case CANCELLED -> isLate ? doubt(silence()) : failure;
        case NETWORK, TLS ->
            failuresInRow.incrementAndGet() >= FallbackClient.FAILURES_TO_DOUBT
                ? doubt(failure)
                : failure;
        default -> failure;
      };
    }

    private RequestFailure silence() {
      String reason =
          "no answer on a new connection within "
              + TimeUnit.NANOSECONDS.toMillis(patienceNanos())
              + " ms";
      return new RequestFailure(
          Kind.NETWORK, request.subject(), reason, new SocketTimeoutException(reason));
    }

    /** Of a kind that nobody sends again. */
    private RequestFailure doubt(RequestFailure last) {
      return new RequestFailure(Kind.OTHER, last.subject(), last.reason(), new Unreached(last));
    }
  }
}
