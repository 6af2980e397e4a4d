// SPDX-License-Identifier: Apache-2.0
package io.s3e;

import io.s3e.jvm.Background;
import io.s3e.stream.BoundedExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The threads that serve the vectored reads of all tenants of an engine: daemons that end when they
 * idle, and with the engine. Each tenant may use so many of them at once and no more, those that
 * copy and those that wait, so that none waits behind another: to copy waits for nothing of S3E's,
 * but it runs the application's code, which allocates buffers and hears of the ends of ranges.
 */
final class VectoredThreads implements AutoCloseable {
  /** The ranges that wait for one tenant at once; the others wait for their turn. */
  private static final int WAITING_OF_TENANT = 32;

  private static final int IDLE_SECONDS = 10;

  private final int processors = Runtime.getRuntime().availableProcessors();
  private final AtomicInteger made = new AtomicInteger();
  private final ThreadPoolExecutor threads =
      new ThreadPoolExecutor(
          0,
          Integer.MAX_VALUE,
          IDLE_SECONDS,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          task -> Background.daemon("s3e-vectored-" + made.incrementAndGet(), task));

  /** The copying threads of one tenant, as many as processors; the tenant closes them. */
  BoundedExecutor copyingOfTenant() {
    return new BoundedExecutor(threads, processors);
  }

  /** The waiting threads of one tenant, which closes them. */
  BoundedExecutor waitingOfTenant() {
    return new BoundedExecutor(threads, WAITING_OF_TENANT);
  }

  /** Refuses what comes from now on; what was accepted is run. */
  @Override
  public void close() {
    threads.shutdown();
  }
}
