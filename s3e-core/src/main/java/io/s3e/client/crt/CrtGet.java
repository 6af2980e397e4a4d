// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.crt;

import io.s3e.client.GetRequest;
import io.s3e.client.LentBuffer;
import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.client.ResponseHandler;
import io.s3e.client.StoreAnswer;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.crt.s3.S3BorrowedBuffer;
import software.amazon.awssdk.crt.s3.S3BorrowedBufferDelivery;

/**
 * A ranged GET. A CRT client with a pool of direct memory delivers the body there, without a copy:
 * the buffer either passes to the handler as a {@link LentBuffer} ({@code request.lend()}), or is
 * shown to it during the callback and given back at once. One without a pool delivers a {@code
 * byte[]}. Callbacks come one at a time, each after the one before, from native event loops.
 *
 * <p>A handler that throws ends the exchange: the exception is kept as the reason and a bare one is
 * thrown on to the CRT, which fails the request.
 */
final class CrtGet extends CrtCall implements S3BorrowedBufferDelivery {
  /** Tells the CRT to fail the request; the reason is kept on the Java side. */
  private static final class Refused extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Refused() {
      super("response refused", null, false, false);
    }
  }

  /** A pool slot on loan. The CRT makes closing idempotent and safe from any thread. */
  private record Slot(S3BorrowedBuffer borrowed, ByteBuffer bytes) implements LentBuffer {
    @Override
    public void close() {
      borrowed.close();
    }
  }

  private final GetRequest request;
  private final ResponseHandler handler;

  // Touched by the CRT's callbacks only, one at a time.
  private boolean lent;
  private @Nullable Throwable refusal;

  CrtGet(GetRequest request, ResponseHandler handler, Owner owner) {
    super(request.object(), request.subject(), owner);
    this.request = request;
    this.handler = handler;
  }

  @Override
  protected void began(StoreAnswer answer) {
    try {
      handler.onHead(CrtHeaders.responseHead(answer));
    } catch (Throwable e) {
      throw refuse(e);
    }
  }

  @Override
  public int onResponseBody(ByteBuffer body, long start, long end) {
    deliver(body);
    return 0;
  }

  @Override
  public int onResponseBodyBorrowed(S3BorrowedBuffer body, long start, long end) {
    if (request.lend()) {
      lend(body);
    } else {
      try (body) {
        deliver(body.asByteBuffer());
      }
    }
    return 0;
  }

  private void lend(S3BorrowedBuffer body) {
    if (lent || refusal != null) {
      body.close();
      throw refuse(new IOException("the response is longer than a lent buffer"));
    }
    lent = true;
    try {
      // From here on the handler owns the buffer, also if it throws.
      handler.onLent(new Slot(body, body.asByteBuffer()));
    } catch (Throwable e) {
      throw refuse(e);
    }
  }

  /** Hands a chunk to the handler, or refuses what comes after a refusal. */
  private void deliver(ByteBuffer chunk) {
    if (refusal != null) {
      throw new Refused();
    }
    try {
      handler.onData(chunk);
    } catch (Throwable e) {
      throw refuse(e);
    }
  }

  /** Keeps the first reason and gives the exception to throw into the CRT. */
  private RuntimeException refuse(Throwable reason) {
    if (refusal == null) {
      refusal = reason;
    }
    return new Refused();
  }

  @Override
  protected @Nullable RequestFailure outcome(@Nullable RequestFailure failure) {
    if (refusal != null) {
      return new RequestFailure(
          Kind.REJECTED, subject, "response refused: " + refusal.getMessage(), refusal);
    }
    // A success without headers, which the CRT does not promise to rule out.
    return failure == null && begun == null
        ? RequestFailure.broken(subject, "ended without a response")
        : failure;
  }

  @Override
  protected void ended(@Nullable RequestFailure failure) {
    if (failure == null) {
      handler.onDone();
    } else {
      handler.onFailure(failure);
    }
  }

  @Override
  protected void sent() {
    handler.onSent();
  }
}
