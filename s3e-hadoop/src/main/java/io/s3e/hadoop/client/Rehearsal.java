// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.client.GetRequest;
import io.s3e.client.HeadRequest;
import io.s3e.client.ObjectClient;
import io.s3e.client.ObjectHead;
import io.s3e.client.RequestFailure;
import io.s3e.client.ResponseHandler;
import io.s3e.client.ResponseHead;
import io.s3e.stream.S3EInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A read of zeros out of memory, by the same way as all reads. In a fresh JVM a third of the first
 * read is the loading and linking of some 300 classes; a program that knows early that it will read
 * can have that done on another thread, beside what else it has to begin with.
 */
final class Rehearsal {
  private static final Logger LOG = LoggerFactory.getLogger(Rehearsal.class);
  private static final AtomicBoolean DONE = new AtomicBoolean();
  private static final int BLOCK = 64 << 10;

  /** Long enough that something is prefetched. */
  private static final int SIZE = 48 * BLOCK;

  private static final ObjectRef NOTHING = new ObjectRef("rehearsal", "zeros");

  private Rehearsal() {}

  /** Reads, once for the JVM; about 0.1 s of processor time. Never fails. */
  static void once() {
    if (!DONE.compareAndSet(false, true)) {
      return;
    }
    S3EConfig config = S3EConfig.DEFAULTS.toBuilder().requestBytes(8 * BLOCK).build();
    MemoryBudget budget = new MemoryBudget(64L * BLOCK);
    try (S3E tenant = S3E.create(config, budget, memory -> new Zeros());
        S3EInputStream in = tenant.open(NOTHING, OpenOptions.DEFAULTS.withSize(SIZE))) {
      byte[] bytes = new byte[BLOCK];
      long read = 0;
      for (int count = in.read(bytes, 0, BLOCK); count > 0; count = in.read(bytes, 0, BLOCK)) {
        read += count;
      }
      LOG.debug("Rehearsed the reading of {} bytes", read + in.readAt(1, bytes, 0, 10));
    } catch (IOException | RuntimeException e) {
      LOG.debug("The rehearsal failed", e);
    }
  }

  /** A store without a network, whose objects are zeros. Answers before {@code get} returns. */
  private static final class Zeros implements ObjectClient {
    private static final ClientLimits LIMITS = ClientLimits.copying(8 * BLOCK, 4, 0);

    @Override
    public String name() {
      return "zeros";
    }

    @Override
    public ClientLimits limits() {
      return LIMITS;
    }

    @Override
    public ObjectHead head(HeadRequest request) {
      return new ObjectHead(SIZE, "\"0\"", null, null);
    }

    @Override
    public Exchange get(GetRequest request, ResponseHandler handler) {
      ByteRange range = request.range();
      String bytes = "bytes " + range.start() + "-" + (range.end() - 1) + "/" + SIZE;
      try {
        handler.onSent();
        handler.onHead(new ResponseHead(206, bytes, range.length(), "\"0\"", null, null));
        handler.onData(ByteBuffer.allocate((int) range.length()));
        handler.onDone();
      } catch (IOException e) {
        handler.onFailure(
            new RequestFailure(RequestFailure.Kind.REJECTED, "GET " + range, "not wanted", e));
      }
      return () -> {};
    }

    @Override
    public void close() {}
  }
}
