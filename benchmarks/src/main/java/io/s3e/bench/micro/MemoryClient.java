// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.micro;

import io.s3e.client.ClientLimits;
import io.s3e.client.GetRequest;
import io.s3e.client.HeadRequest;
import io.s3e.client.ObjectClient;
import io.s3e.client.ObjectHead;
import io.s3e.client.RequestFailure;
import io.s3e.client.ResponseHandler;
import io.s3e.client.ResponseHead;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * One object of zeros, answered at once by a thread of its own: what is measured above it is the
 * reader alone.
 */
final class MemoryClient implements ObjectClient {
  private static final String ETAG = "\"zeros\"";
  private static final int REQUEST_BYTES = 8 << 20;
  private static final int REQUESTS = 16;
  private static final int CHUNK_BYTES = 64 << 10;

  private final long size;
  private final ByteBuffer chunk = ByteBuffer.allocateDirect(CHUNK_BYTES);
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(
          task -> {
            Thread made = new Thread(task, "memory-client");
            made.setDaemon(true);
            return made;
          });

  /**
   * @param size of the object, in bytes
   */
  MemoryClient(long size) {
    this.size = size;
  }

  @Override
  public String name() {
    return "memory";
  }

  @Override
  public ClientLimits limits() {
    return ClientLimits.copying(REQUEST_BYTES, REQUESTS, 0);
  }

  @Override
  public ObjectHead head(HeadRequest request) {
    return new ObjectHead(size, ETAG, null, null);
  }

  @Override
  public Exchange get(GetRequest request, ResponseHandler handler) {
    thread.execute(() -> answer(request, handler));
    return () -> {};
  }

  private void answer(GetRequest request, ResponseHandler handler) {
    long start = request.range().start();
    long length = request.range().length();
    String range = "bytes " + start + "-" + (request.range().end() - 1) + "/" + size;
    try {
      handler.onSent();
      handler.onHead(new ResponseHead(206, range, length, ETAG, null, null));
      for (long left = length; left > 0; left -= chunk.limit()) {
        chunk.position(0).limit((int) Math.min(left, CHUNK_BYTES));
        handler.onData(chunk);
      }
      handler.onDone();
    } catch (IOException e) {
      handler.onFailure(
          new RequestFailure(
              RequestFailure.Kind.REJECTED, "GET", String.valueOf(e.getMessage()), e));
    }
  }

  @Override
  public void close() {
    thread.shutdown();
  }
}
