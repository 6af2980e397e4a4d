// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.raw;

import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * The SDK's synchronous client: a thread for each GET in flight, each reading into a heap buffer of
 * its own that it keeps.
 */
final class SyncRawClient implements RawClient {

  private static final int BUFFER_BYTES = 1 << 20;

  private final S3Client s3;
  private final Runnable closeTransport;
  private final ExecutorService threads;
  private final ThreadLocal<byte[]> buffers = ThreadLocal.withInitial(() -> new byte[BUFFER_BYTES]);

  /**
   * @param s3 closed with this client
   * @param closeTransport runs after that
   * @param inFlight how many GETs may be under way
   */
  SyncRawClient(S3Client s3, Runnable closeTransport, int inFlight) {
    this.s3 = s3;
    this.closeTransport = closeTransport;
    threads = Executors.newFixedThreadPool(inFlight);
  }

  @Override
  public CompletableFuture<Void> get(ObjectRef object, ByteRange range, ByteSink sink) {
    return CompletableFuture.runAsync(
        () -> read(object, range, new RangeSink(range, sink)), threads);
  }

  private void read(ObjectRef object, ByteRange range, RangeSink sink) {
    byte[] buffer = buffers.get();
    try (InputStream in =
        s3.getObject(
            request ->
                request.bucket(object.bucket()).key(object.key()).range(range.httpHeader()))) {
      int got;
      do {
        got = in.readNBytes(buffer, 0, buffer.length);
        sink.accept(ByteBuffer.wrap(buffer, 0, got));
      } while (got == buffer.length);
      sink.checkComplete();
    } catch (IOException e) {
      throw new CompletionException(e);
    }
  }

  @Override
  public void close() {
    threads.shutdownNow();
    s3.close();
    closeTransport.run();
  }
}
