// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.spark.job;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;
import org.apache.spark.TaskContext;

/**
 * The time that threads of tasks spend in calls that open and read streams, and the bytes that the
 * calls gave. One for the JVM, for all streams alike; any thread.
 *
 * <p>A call counts from its start to its return on the thread of a task, with whatever the stream
 * does on that thread (waiting, decrypting, copying). Of a vectored read the call itself counts and
 * later every wait for the future of a range; its bytes count when it was asked for. Calls of other
 * threads, the driver's among them, count nowhere: Spark's input metric does not know them either.
 */
final class ReadClock {

  /** A call that is timed. */
  @FunctionalInterface
  interface Call<T> {
    T run() throws IOException;
  }

  /** A call that is timed and gives nothing of its own. */
  @FunctionalInterface
  interface Action {
    void run() throws IOException;
  }

  private static final LongAdder OPENS = new LongAdder();
  private static final LongAdder OPEN_NANOS = new LongAdder();
  private static final LongAdder READS = new LongAdder();
  private static final LongAdder READ_NANOS = new LongAdder();
  private static final LongAdder BYTES = new LongAdder();

  private ReadClock() {}

  /** Sums since the start of the JVM. */
  static StepResult.Reads sums() {
    return new StepResult.Reads(
        OPENS.sum(), OPEN_NANOS.sum(), READS.sum(), READ_NANOS.sum(), BYTES.sum());
  }

  private static boolean isTask() {
    return TaskContext.get() != null;
  }

  static <T> T open(Call<T> call) throws IOException {
    if (!isTask()) {
      return call.run();
    }
    long start = System.nanoTime();
    try {
      return call.run();
    } finally {
      OPENS.increment();
      OPEN_NANOS.add(System.nanoTime() - start);
    }
  }

  /** A read that tells how many bytes it gave; a negative count is the end of the stream. */
  static int read(Call<Integer> call) throws IOException {
    if (!isTask()) {
      return call.run();
    }
    long start = System.nanoTime();
    int given = 0;
    try {
      given = call.run();
      return given;
    } finally {
      READS.increment();
      READ_NANOS.add(System.nanoTime() - start);
      BYTES.add(Math.max(0, given));
    }
  }

  /** A read that gives all of {@code bytes} or fails. */
  static void readFully(long bytes, Action call) throws IOException {
    if (!isTask()) {
      call.run();
      return;
    }
    long start = System.nanoTime();
    try {
      call.run();
      BYTES.add(bytes);
    } finally {
      READS.increment();
      READ_NANOS.add(System.nanoTime() - start);
    }
  }

  /** The same future, with every wait for it counted as time of a read. */
  static <T> CompletableFuture<T> timedRead(CompletableFuture<T> future) {
    return new TimedFuture<>(future, READ_NANOS);
  }

  /** The same future, with every wait for it counted as time of an open. */
  static <T> CompletableFuture<T> timedOpen(CompletableFuture<T> future) {
    return new TimedFuture<>(future, OPEN_NANOS);
  }

  /** Completes as another future does and counts the time of waits for it. */
  private static final class TimedFuture<T> extends CompletableFuture<T> {
    private final CompletableFuture<T> source;
    private final LongAdder nanos;

    TimedFuture(CompletableFuture<T> source, LongAdder nanos) {
      this.source = source;
      this.nanos = nanos;
      var unused = source.whenComplete(this::take);
    }

    private void take(T value, Throwable failure) {
      if (failure == null) {
        complete(value);
      } else {
        completeExceptionally(failure);
      }
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
      return source.cancel(mayInterruptIfRunning) && super.cancel(mayInterruptIfRunning);
    }

    private void waited(long start) {
      if (isTask()) {
        nanos.add(System.nanoTime() - start);
      }
    }

    @Override
    public T get() throws InterruptedException, ExecutionException {
      long start = System.nanoTime();
      try {
        return super.get();
      } finally {
        waited(start);
      }
    }

    @Override
    public T get(long timeout, TimeUnit unit)
        throws InterruptedException, ExecutionException, TimeoutException {
      long start = System.nanoTime();
      try {
        return super.get(timeout, unit);
      } finally {
        waited(start);
      }
    }

    @Override
    public T join() {
      long start = System.nanoTime();
      try {
        return super.join();
      } finally {
        waited(start);
      }
    }
  }
}
