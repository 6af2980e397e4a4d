package io.s3e.client.crt;

import io.s3e.client.ForwardingHandler;
import io.s3e.client.GetRequest;
import io.s3e.client.ObjectClient;
import io.s3e.client.RequestFailure;
import io.s3e.client.ResponseHandler;
import org.jspecify.annotations.Nullable;

/**
 * A GET that is sent once more where the store says that the bucket is in another region. Its
 * handler hears of one exchange: a refusal comes before any head, so nothing has been told yet.
 *
 * <p>States, moved under this object's monitor:
 *
 * <pre>
 * FIRST ──refused, another region named──▶ SECOND ──▶ ended
 *   └──any other end, or cancelled──▶ ended
 * </pre>
 *
 * {@link #cancel} goes to the exchange of the present state; one that is only known after the state
 * has moved on has ended already. A cancelled GET is not sent again.
 */
final class FollowedGet implements ForwardingHandler, ObjectClient.Exchange {
  private enum State {
    FIRST,
    SECOND
  }

  /** Sends one GET. */
  @FunctionalInterface
  interface Sender {
    ObjectClient.Exchange send(GetRequest request, ResponseHandler handler);
  }

  private final Sender sender;
  private final Addressing addressing;
  private final GetRequest request;
  private final ResponseHandler handler;
  private final String firstRegion;

  // Guarded by this.
  private State state = State.FIRST;
  private boolean cancelled;
  private ObjectClient.@Nullable Exchange exchange;

  FollowedGet(Sender sender, Addressing addressing, GetRequest request, ResponseHandler handler) {
    this.sender = sender;
    this.addressing = addressing;
    this.request = request;
    this.handler = handler;
    firstRegion = addressing.target(request.object().bucket()).region();
  }

  /** Sends it; called once. */
  FollowedGet start() {
    attach(State.FIRST, sender.send(request, this));
    return this;
  }

  @Override
  public ResponseHandler handler() {
    return handler;
  }

  @Override
  public void cancel() {
    ObjectClient.Exchange now;
    synchronized (this) {
      cancelled = true;
      now = exchange;
    }
    if (now != null) {
      now.cancel();
    }
  }

  @Override
  public void onFailure(RequestFailure failure) {
    if (goesOn(failure)) {
      handler.onResent(failure);
      attach(State.SECOND, sender.send(request, this));
    } else {
      handler.onFailure(failure);
    }
  }

  private synchronized boolean goesOn(RequestFailure failure) {
    if (state != State.FIRST
        || cancelled
        || !addressing.follow(request.object().bucket(), firstRegion, failure)) {
      return false;
    }
    state = State.SECOND;
    exchange = null;
    return true;
  }

  private void attach(State of, ObjectClient.Exchange sent) {
    boolean cancelNow;
    synchronized (this) {
      if (state != of) {
        return;
      }
      exchange = sent;
      cancelNow = cancelled;
    }
    if (cancelNow) {
      sent.cancel();
    }
  }
}
