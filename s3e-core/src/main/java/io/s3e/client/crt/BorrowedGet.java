package io.s3e.client.crt;

import io.s3e.client.GetRequest;
import io.s3e.client.LentBuffer;
import io.s3e.client.ResponseHandler;
import java.io.IOException;
import java.nio.ByteBuffer;
import software.amazon.awssdk.crt.s3.S3BorrowedBuffer;
import software.amazon.awssdk.crt.s3.S3BorrowedBufferDelivery;
import software.amazon.awssdk.crt.s3.S3ClientOptions;
import software.amazon.awssdk.crt.s3.S3DirectBufferPoolOptions;

/**
 * A ranged GET whose body the CRT delivers in the direct memory of its pool, without a copy. The
 * buffer either passes to the handler as a {@link LentBuffer} ({@code request.lend()}) or is shown
 * to it during the callback and given back at once.
 *
 * <p>Loaded only where aws-crt has the types (0.50 and later): others name the two static methods
 * alone, and call them only where the library lends.
 */
final class BorrowedGet extends CrtGet implements S3BorrowedBufferDelivery {

  /** A pool slot on loan. The CRT makes closing idempotent and safe from any thread. */
  private record Slot(S3BorrowedBuffer borrowed, ByteBuffer bytes) implements LentBuffer {
    @Override
    public void close() {
      borrowed.close();
    }
  }

  /** Touched by the CRT's callbacks only. */
  private boolean lent;

  private BorrowedGet(GetRequest request, ResponseHandler handler, Owner owner) {
    super(request, handler, owner);
  }

  static CrtGet of(GetRequest request, ResponseHandler handler, Owner owner) {
    return new BorrowedGet(request, handler, owner);
  }

  /**
   * Gives the client a pool of direct memory that grows on demand up to {@code bytes}, 16 slots at
   * a time, and shrinks again when the client is idle.
   */
  static void allowPool(S3ClientOptions options, long bytes) {
    options.withDirectBufferPoolOptions(S3DirectBufferPoolOptions.elastic(0, bytes));
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
    try {
      checkNotRefused();
      if (lent) {
        throw refuse(new IOException("the response is longer than a lent buffer"));
      }
    } catch (RuntimeException e) {
      body.close();
      throw e;
    }
    lent = true;
    try {
      // From here on the handler owns the buffer, also if it throws.
      handler.onLent(new Slot(body, body.asByteBuffer()));
    } catch (Throwable e) {
      throw refuse(e);
    }
  }
}
