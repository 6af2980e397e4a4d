// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import io.s3e.bench.data.ObjectSlice;
import org.apache.hadoop.fs.FSDataInputStream;

/**
 * Seeks to and fro: reads 1 MiB, skips 2 MiB forward, reads 1 MiB, goes back 3 MiB, and so on,
 * until every byte has been read once.
 */
final class ToAndFro implements Workload {

  private static final int PIECE_BYTES = 1 << 20;

  /** Order in which each group of six pieces is visited: forth by three, back by two. */
  private static final int[] ORDER = {0, 3, 1, 4, 2, 5};

  @Override
  public long run(RunContext context) throws Exception {
    ObjectSlice object = context.object();
    byte[] buffer = context.buffer(PIECE_BYTES);
    long pieces = context.bytesFromFront() / PIECE_BYTES;
    try (FSDataInputStream in = context.open(object)) {
      for (long group = 0; group + ORDER.length <= pieces; group += ORDER.length) {
        for (int step : ORDER) {
          context.seekAndRead(in, object, (group + step) * PIECE_BYTES, buffer);
        }
      }
    }
    return 0;
  }
}
