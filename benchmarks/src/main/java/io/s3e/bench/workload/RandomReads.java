package io.s3e.bench.workload;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.fs.FSDataInputStream;

/**
 * Positioned reads of 256 KiB at random over the whole object, by 16 threads as 16 tasks would do
 * it: each with a stream of its own. The first failure ends them all.
 */
final class RandomReads implements Workload {

  private static final int THREADS = 16;
  private static final int READ_BYTES = 256 << 10;

  @Override
  public long run(RunContext context) throws Exception {
    long readsPerThread = Math.max(1, context.spec().bytes() / ((long) THREADS * READ_BYTES));
    AtomicBoolean stop = new AtomicBoolean();
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try {
      List<Future<?>> tasks = new ArrayList<>();
      for (int thread = 0; thread < THREADS; thread++) {
        SplittableRandom random = new SplittableRandom(context.spec().seed() * THREADS + thread);
        tasks.add(
            threads.submit(
                () -> {
                  boolean done = false;
                  try {
                    read(context, random, readsPerThread, stop);
                    done = true;
                  } finally {
                    if (!done) {
                      stop.set(true);
                    }
                  }
                  return null;
                }));
      }
      awaitAll(tasks);
    } finally {
      threads.shutdownNow();
    }
    return 0;
  }

  private static void awaitAll(List<Future<?>> tasks) throws Exception {
    Exception first = null;
    for (Future<?> task : tasks) {
      try {
        task.get();
      } catch (ExecutionException e) {
        Exception cause = e.getCause() instanceof Exception x ? x : e;
        if (first == null) {
          first = cause;
        } else if (first != cause) {
          first.addSuppressed(cause);
        }
      }
    }
    if (first != null) {
      throw first;
    }
  }

  private static void read(
      RunContext context, SplittableRandom random, long reads, AtomicBoolean stop)
      throws Exception {
    ReadMonitor monitor = context.monitor();
    long length = context.referenceLength();
    byte[] buffer = new byte[(int) Math.min(READ_BYTES, length)];
    try (FSDataInputStream in = context.open()) {
      for (long i = 0; i < reads && !stop.get(); i++) {
        long position = random.nextLong(length - buffer.length + 1);
        monitor.begin("positioned read of " + buffer.length + " bytes at " + position);
        try {
          in.readFully(position, buffer, 0, buffer.length);
          monitor.endRead(buffer.length);
        } finally {
          monitor.end();
        }
        context.check(position, buffer, buffer.length);
      }
    }
  }
}
