// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.fallback;

import io.s3e.client.ForwardingHandler;
import io.s3e.client.GetRequest;
import io.s3e.client.ObjectClient;
import io.s3e.client.RequestFailure;
import io.s3e.client.ResponseHandler;
import io.s3e.client.ResponseHead;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A GET of a {@link FallbackClient} that does not yet read by the substitute. The handler hears one
 * answer or one failure.
 *
 * <p>At any moment at most one {@link Try} may speak to the handler. A try ends once: its answer
 * begins (BEGUN, and the handler is its own from then on), or it fails, is too late or is cancelled
 * (LEFT, and what it says later is dropped). Any thread.
 */
final class FastGet implements ObjectClient.Exchange {
  private final FallbackClient client;
  private final GetRequest request;
  private final ResponseHandler handler;

  /** Whether the answer has to begin in time: the fast client has not proven itself yet. */
  private final boolean isTrial;

  private final AtomicReference<ObjectClient.@Nullable Exchange> current = new AtomicReference<>();
  private volatile boolean cancelled;

  /** GETs of the fast client so far. */
  private final AtomicInteger tries = new AtomicInteger();

  /** Whether the substitute has read the range; then the next failures decide. */
  private volatile boolean substituteReads;

  FastGet(FallbackClient client, GetRequest request, ResponseHandler handler, boolean isTrial) {
    this.client = client;
    this.request = request;
    this.handler = handler;
    this.isTrial = isTrial;
  }

  ObjectClient.Exchange begin() {
    tryFast();
    return this;
  }

  @Override
  public void cancel() {
    cancelled = true;
    ObjectClient.Exchange exchange = current.get();
    if (exchange != null) {
      exchange.cancel();
    }
  }

  private void tryFast() {
    tries.incrementAndGet();
    Try attempt = new Try();
    current.set(attempt);
    attempt.send();
    if (cancelled) {
      attempt.cancel();
    }
  }

  private void goOnBySubstitute(RequestFailure failure) {
    handler.onResent(failure);
    ObjectClient.Exchange exchange = client.bySubstitute(request, handler);
    current.set(exchange);
    if (cancelled) {
      exchange.cancel();
    }
  }

  /** The try has failed before its answer began; in silence if nothing at all has come in time. */
  private void failed(RequestFailure failure, boolean isSilence) {
    if (!cancelled && FallbackClient.isUnreadable(failure)) {
      client.substitute(failure);
      goOnBySubstitute(failure);
      return;
    }
    if (cancelled || !FallbackClient.isTransport(failure)) {
      if (failure.answer() != null) {
        client.answered();
      }
      handler.onFailure(failure);
      return;
    }
    boolean doubtful = client.failed();
    switch (client.state()) {
      case FAST -> handler.onFailure(failure);
      case SUBSTITUTE -> goOnBySubstitute(failure);
      case TRYING -> {
        if (substituteReads && tries.get() >= FallbackClient.FAILURES_TO_DOUBT) {
          client.substitute(failure);
          goOnBySubstitute(failure);
        } else if (!substituteReads && (doubtful || isSilence)) {
          askSubstitute(failure);
        } else {
          tryAgain(failure);
        }
      }
    }
  }

  private void tryAgain(RequestFailure failure) {
    handler.onResent(failure);
    tryFast();
  }

  private void askSubstitute(RequestFailure doubt) {
    ObjectClient.Exchange failedTry = current.get();
    ObjectClient.Exchange probe =
        client.probe(
            request,
            new Probe(
                handler::onSent,
                failure -> {
                  substituteReads = failure == null;
                  if (cancelled) {
                    handler.onFailure(RequestFailure.cancelled(request.subject()));
                  } else if (failure == null) {
                    tryAgain(doubt);
                  } else {
                    handler.onFailure(failure);
                  }
                }));
    // Unless it has ended and the next try is what a cancel has to reach.
    current.compareAndSet(failedTry, probe);
    if (cancelled) {
      probe.cancel();
    }
  }

  private final class Try implements ForwardingHandler, ObjectClient.Exchange {
    private final CompletableFuture<ObjectClient.Exchange> exchange = new CompletableFuture<>();

    /** True once BEGUN, false once LEFT. With either the timer goes, and all that it holds. */
    private final CompletableFuture<Boolean> begun = new CompletableFuture<>();

    @Override
    public ResponseHandler handler() {
      return handler;
    }

    void send() {
      if (isTrial) {
        var unused =
            // Of a copy: an answer that comes before the timer has a thread is not too late.
            begun
                .copy()
                .orTimeout(client.patienceNanos(request), TimeUnit.NANOSECONDS)
                .exceptionallyAsync(
                    timeout -> {
                      tooLate();
                      return false;
                    });
      }
      exchange.complete(client.byFast(request, this));
    }

    private void tooLate() {
      long millis = TimeUnit.NANOSECONDS.toMillis(client.patienceNanos(request));
      String reason = "no answer on a new connection within " + millis + " ms";
      leave(RequestFailure.timedOut(request.subject(), reason), true);
    }

    /** Ends the try if its answer has not begun, and goes on from there. */
    private void leave(RequestFailure failure, boolean isSilence) {
      if (begun.complete(false)) {
        cancelExchange();
        failed(failure, isSilence);
      }
    }

    @Override
    public void cancel() {
      // A client that has proven itself says when it is through: its memory is in use until then.
      if (isTrial) {
        leave(RequestFailure.cancelled(request.subject()), false);
      }
      cancelExchange();
    }

    private void cancelExchange() {
      var unused = exchange.thenAccept(ObjectClient.Exchange::cancel);
    }

    @Override
    public void onHead(ResponseHead head) throws IOException {
      client.answered();
      if (!begun.complete(true)) {
        throw new IOException("the answer came too late");
      }
      handler.onHead(head);
    }

    @Override
    public void onFailure(RequestFailure failure) {
      if (begun.getNow(false)) {
        handler.onFailure(failure);
      } else {
        leave(failure, false);
      }
    }
  }
}
