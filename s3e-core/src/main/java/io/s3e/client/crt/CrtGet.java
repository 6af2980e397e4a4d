package io.s3e.client.crt;

import io.s3e.client.GetRequest;
import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.client.ResponseHandler;
import io.s3e.client.ResponseHead;
import io.s3e.client.StoreAnswer;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A ranged GET whose body the CRT delivers as {@code byte[]}; the way for versions of aws-crt that
 * cannot lend. Callbacks come one at a time, each after the one before, from native event loops.
 *
 * <p>A handler that throws ends the exchange: the exception is kept as the reason and a bare one is
 * thrown on to the CRT, which fails the request.
 */
class CrtGet extends CrtCall {
  /** Tells the CRT to fail the request; the reason is kept on the Java side. */
  private static final class Refused extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Refused() {
      super("response refused", null, false, false);
    }
  }

  protected final GetRequest request;
  protected final ResponseHandler handler;

  /** Touched by the CRT's callbacks only, one at a time. */
  private @Nullable Throwable refusal;

  CrtGet(GetRequest request, ResponseHandler handler, Owner owner) {
    super(request.object(), request.subject(), owner);
    this.request = request;
    this.handler = handler;
  }

  @Override
  protected final void began(StoreAnswer answer) {
    ResponseHead head = CrtHeaders.responseHead(answer);
    try {
      handler.onHead(head);
      checkStart(head);
    } catch (Throwable e) {
      throw refuse(e);
    }
  }

  @Override
  public final int onResponseBody(ByteBuffer body, long start, long end) {
    deliver(body);
    return 0;
  }

  /** Hands a chunk to the handler, or refuses what comes after a refusal. */
  protected final void deliver(ByteBuffer chunk) {
    checkNotRefused();
    try {
      handler.onData(chunk);
    } catch (Throwable e) {
      throw refuse(e);
    }
  }

  protected final void checkNotRefused() {
    if (refusal != null) {
      throw new Refused();
    }
  }

  /** Keeps the reason and gives the exception to throw into the CRT. */
  protected final RuntimeException refuse(Throwable reason) {
    if (refusal == null) {
      refusal = reason;
    }
    return new Refused();
  }

  @Override
  protected final @Nullable RequestFailure outcome(@Nullable RequestFailure failure) {
    if (refusal != null) {
      return new RequestFailure(
          Kind.REJECTED, subject(), "response refused: " + refusal.getMessage(), refusal);
    }
    return failure == null && begun() == null ? CrtFailures.noHead(subject()) : failure;
  }

  @Override
  protected final void ended(@Nullable RequestFailure failure) {
    if (failure == null) {
      handler.onDone();
    } else {
      handler.onFailure(failure);
    }
  }

  @Override
  protected final void sent() {
    handler.onSent();
  }

  /**
   * Stops versions of the CRT that do not check where a response begins: they would compute the
   * parts still to fetch from there, and for a start past the asked end that number underflows.
   */
  private void checkStart(ResponseHead head) throws IOException {
    String expected = "bytes " + request.range().start() + "-";
    String contentRange = head.contentRange();
    if (contentRange != null && !contentRange.startsWith(expected)) {
      throw new IOException(
          "asked for " + request.range().httpHeader() + ", got Content-Range " + contentRange);
    }
  }
}
