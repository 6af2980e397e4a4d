// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import io.s3e.bench.data.ObjectSlice;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.apache.hadoop.fs.FSDataInputStream;

/**
 * Seeks to places at random, to none twice, and reads 1 MiB from each by reads of 64 KiB: as
 * readers of blocks of container files do, and of records by an index. Nothing tells the stream how
 * it will be read.
 */
final class Jumps implements Workload {

  private static final int RUN_BYTES = 1 << 20;
  private static final int READ_BYTES = 64 << 10;

  @Override
  public long run(RunContext context) throws Exception {
    ObjectSlice object = context.object();
    byte[] buffer = context.buffer(READ_BYTES);
    List<Long> places =
        LongStream.range(0, object.length() / RUN_BYTES).boxed().collect(Collectors.toList());
    Collections.shuffle(places, new Random(context.spec().seed()));
    try (FSDataInputStream in = context.open(object)) {
      for (long place : places.subList(0, (int) (context.bytesFromFront() / RUN_BYTES))) {
        long from = place * RUN_BYTES;
        for (long at = from; at < from + RUN_BYTES; at += READ_BYTES) {
          context.seekAndRead(in, object, at, buffer);
        }
      }
    }
    return 0;
  }
}
