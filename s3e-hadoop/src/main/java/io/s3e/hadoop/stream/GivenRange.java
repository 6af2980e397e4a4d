// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.stream;

import io.s3e.jvm.OwnLoader;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The future of one range of a vectored read, which the application is given. The core completes
 * the ranges of a group one after the other, on the thread that copies them. Code of the
 * application's that runs then may wait for another range, as it may with S3A, which reads them by
 * tasks of their own: so it runs on a thread apart. Who only waits for the range needs none.
 */
final class GivenRange extends CompletableFuture<ByteBuffer> {
  /** Shorter than anybody waits for threads of a class loader that is given up. */
  private static final long IDLE_MILLIS = 200;

  private static final Executor APART =
      new ThreadPoolExecutor(
          0,
          Integer.MAX_VALUE,
          IDLE_MILLIS,
          TimeUnit.MILLISECONDS,
          new SynchronousQueue<>(),
          task -> OwnLoader.thread(task, "s3e-range"));

  private volatile boolean hasCallbacks;

  /**
   * @param onEnd runs when the range is complete, by whomever; does not wait
   */
  GivenRange(Runnable onEnd) {
    var unused = super.whenComplete((buffer, failure) -> onEnd.run());
    hasCallbacks = false;
  }

  /** Called for each stage that depends on this one. */
  @Override
  public <U> CompletableFuture<U> newIncompleteFuture() {
    hasCallbacks = true;
    return new CompletableFuture<>();
  }

  /** Completes this by {@code completion}: here, or apart where code would run here. */
  void end(Runnable completion) {
    if (!hasCallbacks) {
      completion.run();
      return;
    }
    try {
      var unused = CompletableFuture.runAsync(completion, APART);
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      // The system has no thread to give.
      completion.run();
    }
  }
}
