// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.raw;

import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.client.GetRequest;
import io.s3e.client.LentBuffer;
import io.s3e.client.ObjectClient;
import io.s3e.client.RequestFailure;
import io.s3e.client.ResponseHandler;
import io.s3e.client.ResponseHead;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * One of S3E's own clients, asked directly. A lent buffer is given back as soon as the sink has
 * seen it.
 */
final class SpiRawClient implements RawClient {

  private final ObjectClient client;
  private final boolean lend;

  /**
   * @param client closed with this one
   * @param lend whether responses come in the client's own buffers
   */
  SpiRawClient(ObjectClient client, boolean lend) {
    this.client = client;
    this.lend = lend;
  }

  @Override
  public CompletableFuture<Void> get(ObjectRef object, ByteRange range, ByteSink sink) {
    Body body = new Body(new RangeSink(range, sink));
    client.get(new GetRequest(object, range, null, null, lend, Map.of(), null), body);
    return body.done;
  }

  @Override
  public void close() {
    client.close();
  }

  private static final class Body implements ResponseHandler {
    private final CompletableFuture<Void> done = new CompletableFuture<>();
    private final RangeSink sink;

    Body(RangeSink sink) {
      this.sink = sink;
    }

    @Override
    public void onHead(ResponseHead head) throws IOException {
      if (head.status() != 206) {
        throw new IOException("a ranged GET was answered with " + head.status());
      }
    }

    @Override
    public void onData(ByteBuffer chunk) throws IOException {
      sink.accept(chunk);
      chunk.position(chunk.limit());
    }

    @Override
    public void onLent(LentBuffer buffer) throws IOException {
      try (buffer) {
        sink.accept(buffer.bytes());
      }
    }

    @Override
    public void onDone() {
      try {
        sink.checkComplete();
        done.complete(null);
      } catch (IOException e) {
        done.completeExceptionally(e);
      }
    }

    @Override
    public void onFailure(RequestFailure failure) {
      done.completeExceptionally(failure);
    }
  }
}
