package io.s3e.client.crt;

import io.s3e.client.GetRequest;
import io.s3e.client.ResponseHandler;
import software.amazon.awssdk.crt.s3.S3ClientOptions;
import software.amazon.awssdk.crt.s3.S3DirectBufferPoolOptions;

/**
 * The fence around the types that only aws-crt 0.50 and later have. Touched only where the library
 * {@code LENDS}.
 */
final class BorrowedPools {
  private BorrowedPools() {}

  /**
   * Gives the client a pool of direct memory that grows on demand up to {@code bytes}, 16 slots at
   * a time, and shrinks again when the client is idle.
   */
  static void configure(S3ClientOptions options, long bytes) {
    options.withDirectBufferPoolOptions(S3DirectBufferPoolOptions.elastic(0, bytes));
  }

  static CrtGet get(GetRequest request, ResponseHandler handler, CrtCall.Owner owner) {
    return new BorrowedGet(request, handler, owner);
  }
}
