// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import io.s3e.bench.data.ObjectSlice;
import java.io.IOException;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.fs.FSDataInputStream;

/**
 * Streams at once, a thread and an object (or a range of one) each, from the front into a heap
 * buffer.
 */
final class SequentialRead implements Workload {

  static final int BUFFER_BYTES = 1 << 20;

  /** So that the buffers of 256 streams are no more than 32 MiB. */
  private static final int BUFFER_BYTES_OF_MANY = 128 << 10;

  private final int streams;
  private final int bufferBytes;

  SequentialRead(int streams) {
    this.streams = streams;
    this.bufferBytes = streams == 1 ? BUFFER_BYTES : BUFFER_BYTES_OF_MANY;
  }

  @Override
  public long run(RunContext context) throws Exception {
    List<ObjectSlice> objects = context.objects();
    if (objects.size() != streams) {
      throw new IllegalStateException(streams + " streams over " + objects.size() + " objects");
    }
    long share = context.spec().bytes() / streams;
    ParallelTasks.run(
        streams, (thread, stopped) -> read(context, objects.get(thread), share, stopped));
    return 0;
  }

  private void read(RunContext context, ObjectSlice object, long share, BooleanSupplier stopped)
      throws Exception {
    byte[] buffer = context.buffer(bufferBytes);
    long position = object.position();
    long end = position + Math.min(share, object.length());
    try (FSDataInputStream in = context.open(object)) {
      if (position > 0) {
        in.seek(position);
      }
      read(context, in, object, buffer, position, end, stopped);
    }
  }

  /** Reads from where the stream is, and compares. */
  static void read(
      RunContext context,
      FSDataInputStream in,
      ObjectSlice object,
      byte[] buffer,
      long start,
      long end,
      BooleanSupplier stopped)
      throws IOException {
    ReadMonitor monitor = context.monitor();
    long position = start;
    while (position < end && !stopped.getAsBoolean()) {
      int want = (int) Math.min(buffer.length, end - position);
      monitor.begin("read", position, want);
      int got;
      try {
        got = in.read(buffer, 0, want);
        if (got <= 0) {
          throw new WrongBytesException(
              "read returned %d at %d of %s".formatted(got, position, object));
        }
        monitor.endRead(got);
      } finally {
        monitor.end();
      }
      context.check(object, position, buffer, got);
      position += got;
    }
  }
}
