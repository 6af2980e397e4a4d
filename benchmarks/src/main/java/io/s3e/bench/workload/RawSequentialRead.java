// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import io.s3e.bench.data.ObjectSlice;
import io.s3e.bench.raw.ByteSink;
import io.s3e.bench.raw.RawCeiling;
import io.s3e.bench.raw.RawClient;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import org.apache.hadoop.fs.Path;

/**
 * The objects, one after the other and each from the front, by a raw client, a fixed number of
 * ranges in flight: a new one begins as soon as one has ended. Bytes are compared where they
 * arrive, in the client's own buffers and on its threads. A read, in the figures, is one range from
 * its request to its last byte.
 */
final class RawSequentialRead implements Workload {

  /** One GET. */
  private record Part(ObjectSlice object, ByteRange range) {}

  private final RawClient client;
  private final int inFlight;

  /**
   * @param client stays open
   */
  RawSequentialRead(RawClient client, int inFlight) {
    this.client = client;
    this.inFlight = inFlight;
  }

  @Override
  public long run(RunContext context) throws Exception {
    ReadMonitor monitor = context.monitor();
    Semaphore free = new Semaphore(inFlight);
    List<CompletableFuture<Void>> ranges = new ArrayList<>();
    for (Part part : parts(context)) {
      await(free, 1, monitor);
      if (ranges.stream().anyMatch(CompletableFuture::isCompletedExceptionally)) {
        free.release();
        break;
      }
      ByteRange range = part.range();
      ByteSink sink = (position, bytes) -> context.check(part.object(), position, bytes);
      long began = System.nanoTime();
      ranges.add(
          client
              .get(objectOf(part.object().uri()), range, sink)
              .thenRun(() -> monitor.add(System.nanoTime() - began, range.length()))
              .whenComplete((done, error) -> free.release()));
    }
    await(free, inFlight, monitor);
    for (CompletableFuture<Void> range : ranges) {
      get(range);
    }
    return 0;
  }

  private static List<Part> parts(RunContext context) {
    List<Part> parts = new ArrayList<>();
    long share = context.spec().bytes() / context.objects().size();
    for (ObjectSlice object : context.objects()) {
      long end = object.position() + Math.min(share, object.length());
      for (long start = object.position(); start < end; start += RawCeiling.RANGE_BYTES) {
        long partEnd = Math.min(end, start + RawCeiling.RANGE_BYTES);
        parts.add(new Part(object, new ByteRange(start, partEnd)));
      }
    }
    return parts;
  }

  private static void await(Semaphore free, int permits, ReadMonitor monitor)
      throws InterruptedException {
    monitor.begin("wait for a range of " + RawCeiling.RANGE_BYTES + " bytes to end");
    try {
      free.acquire(permits);
    } finally {
      monitor.end();
    }
  }

  /** Takes wrong bytes out of what a client wrapped them in: they are no failure like others. */
  private static void get(CompletableFuture<Void> range) throws Exception {
    try {
      range.get();
    } catch (ExecutionException e) {
      for (Throwable cause = e.getCause(); cause != null; cause = cause.getCause()) {
        if (cause instanceof WrongBytesException wrong) {
          throw wrong;
        }
      }
      throw e;
    }
  }

  /** Reads the first bytes of an object, and compares them with nothing. */
  static void warmUp(RawClient client, String uri, long length) throws Exception {
    client.get(objectOf(uri), new ByteRange(0, length), (position, bytes) -> {}).get();
  }

  private static ObjectRef objectOf(String uri) {
    URI parsed = new Path(uri).toUri();
    return new ObjectRef(parsed.getHost(), parsed.getPath().substring(1));
  }
}
