// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;

/**
 * The time that the readers of column formats spend in calls of the file system, the bytes that
 * these calls gave, and the groups of rows that were read by them. {@link TimedFileSystem} tells
 * it.
 *
 * <p>A call counts from its start to its return, with whatever the stream does on the caller's
 * thread (waiting, decrypting, copying): status, open, read. Of a vectored read the call itself
 * counts and later every wait for the future of a range. Any thread.
 */
final class ReadClock {

  /** A call that is timed. */
  @FunctionalInterface
  interface Call<T> {
    T run() throws IOException;
  }

  private final LongAdder nanos = new LongAdder();
  private final LongAdder bytes = new LongAdder();
  private final LongAdder groups = new LongAdder();

  <T> T timed(Call<T> call) throws IOException {
    long start = System.nanoTime();
    try {
      return call.run();
    } finally {
      waited(start);
    }
  }

  private void waited(long startNanos) {
    nanos.add(System.nanoTime() - startNanos);
  }

  /** A call gave so many bytes, or will as soon as its futures complete. */
  void gave(long count) {
    bytes.add(count);
  }

  /** A row group, or a stripe, was read. */
  void groupEnded() {
    groups.increment();
  }

  /** Bytes that the calls gave. */
  long bytes() {
    return bytes.sum();
  }

  /** How many row groups, or stripes, were read. */
  long groups() {
    return groups.sum();
  }

  /** Time in calls and in waits for futures. */
  long blockedNanos() {
    return nanos.sum();
  }

  /** The same future, with every wait for it counted. */
  <T> CompletableFuture<T> timed(CompletableFuture<T> future) {
    return new TimedFuture<>(future);
  }

  /** Completes as another future does and counts the time of waits for it. */
  private final class TimedFuture<T> extends CompletableFuture<T> {
    TimedFuture(CompletableFuture<T> source) {
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
