// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import io.s3e.bench.data.ObjectSlice;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.fs.FSDataInputStream;

/**
 * Positioned reads of one size at random over the whole object, by threads as tasks would do it:
 * each with a stream of its own. The first failure ends them all.
 */
final class RandomReads implements Workload {

  /**
   * The bytes that all threads together read at once in a run of full length. With less in flight
   * the run reads less, so that one thread is not at it for minutes.
   */
  private static final long FULL_RUN_BYTES_AT_ONCE = 1 << 20;

  private final int readBytes;
  private final int threads;

  RandomReads(int readBytes, int threads) {
    this.readBytes = readBytes;
    this.threads = threads;
  }

  /** How much to read in a run, if a run of full length reads {@code fullRunBytes}. */
  static long bytes(long fullRunBytes, int readBytes, int threads) {
    long atOnce = Math.min(FULL_RUN_BYTES_AT_ONCE, (long) threads * readBytes);
    return fullRunBytes / FULL_RUN_BYTES_AT_ONCE * atOnce;
  }

  @Override
  public long run(RunContext context) throws Exception {
    long readsPerThread = Math.max(1, context.spec().bytes() / ((long) threads * readBytes));
    ParallelTasks.run(
        threads,
        (thread, stopped) -> {
          SplittableRandom random = new SplittableRandom(context.spec().seed() * threads + thread);
          read(context, random, readsPerThread, stopped);
        });
    return 0;
  }

  private void read(
      RunContext context, SplittableRandom random, long reads, BooleanSupplier stopped)
      throws Exception {
    ReadMonitor monitor = context.monitor();
    ObjectSlice object = context.object();
    byte[] buffer = context.buffer((int) Math.min(readBytes, object.length()));
    try (FSDataInputStream in = context.open(object)) {
      for (long i = 0; i < reads && !stopped.getAsBoolean(); i++) {
        long position = random.nextLong(object.length() - buffer.length + 1);
        monitor.begin("positioned read", position, buffer.length);
        try {
          in.readFully(position, buffer, 0, buffer.length);
          monitor.endRead(buffer.length);
        } finally {
          monitor.end();
        }
        context.check(object, position, buffer, buffer.length);
      }
    }
  }
}
