// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.reliability;

import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Work that may never end, on a thread that is left alone then. */
final class LimitedJob {
  private static final Logger LOG = LoggerFactory.getLogger(LimitedJob.class);

  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(5);

  private LimitedJob() {}

  /**
   * Runs the work and gives its result.
   *
   * @throws TimeoutException when it has not ended in time; its thread goes on
   */
  static <T> T run(String name, Duration limit, Callable<T> work) throws Exception {
    FutureTask<T> job = new FutureTask<>(work);
    Thread thread = new Thread(job, name);
    thread.setDaemon(true);
    thread.start();
    try {
      return job.get(limit.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception failure ? failure : e;
    }
  }

  /** Closes what may hang in its end, and what gives back memory for the next job. */
  static void close(Closeable resource) throws Exception {
    try {
      LimitedJob.<Void>run(
          "close",
          CLOSE_LIMIT,
          () -> {
            resource.close();
            return null;
          });
    } catch (IOException | TimeoutException e) {
      // Not its own words: S3A's stream waits for its reader before it tells of itself.
      LOG.warn("{} does not close", resource.getClass().getName(), e);
    }
  }
}
