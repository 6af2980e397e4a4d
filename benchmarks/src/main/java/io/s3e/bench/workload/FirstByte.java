// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import io.s3e.bench.data.ObjectSlice;
import org.apache.hadoop.fs.FSDataInputStream;

/**
 * A task's first split: opens an object, reads its first byte, and then the rest from front to end.
 * The file system is there before.
 */
final class FirstByte implements Workload {

  /** A small split. */
  static final long BYTES = 64L << 20;

  @Override
  public long run(RunContext context) throws Exception {
    ObjectSlice object = context.object();
    byte[] first = context.buffer(1);
    byte[] buffer = context.buffer(SequentialRead.BUFFER_BYTES);
    context.part(
        Part.Kind.WHOLE,
        () -> {
          try (FSDataInputStream in =
              context.part(Part.Kind.FIRST_BYTE, () -> open(context, object, first))) {
            SequentialRead.read(
                context, in, object, buffer, 1, context.bytesFromFront(), () -> false);
          }
          return object;
        });
    return 0;
  }

  private static FSDataInputStream open(RunContext context, ObjectSlice object, byte[] first)
      throws Exception {
    FSDataInputStream in = context.open(object);
    boolean read = false;
    try {
      SequentialRead.read(context, in, object, first, 0, 1, () -> false);
      read = true;
      return in;
    } finally {
      if (!read) {
        in.close();
      }
    }
  }
}
