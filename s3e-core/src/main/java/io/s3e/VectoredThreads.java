package io.s3e;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The threads that serve the vectored reads of all tenants of an engine: daemons that end when they
 * idle, and with the engine. Tenants take turns at those that copy, which wait for nothing of
 * S3E's. Each tenant may have a number of its own wait, so that none waits behind another.
 */
final class VectoredThreads implements AutoCloseable {
  /** The ranges that wait for one tenant at once; the others wait for their turn. */
  private static final int WAITING_OF_TENANT = 32;

  private static final int IDLE_SECONDS = 10;

  private final int processors = Runtime.getRuntime().availableProcessors();
  private final ThreadPoolExecutor copying;
  private final ThreadPoolExecutor waiting;

  VectoredThreads() {
    copying = pool(processors, processors, new LinkedBlockingQueue<>(), "s3e-vectored-");
    copying.allowCoreThreadTimeOut(true);
    waiting = pool(0, Integer.MAX_VALUE, new SynchronousQueue<>(), "s3e-vectored-waits-");
  }

  private static ThreadPoolExecutor pool(
      int core, int most, BlockingQueue<Runnable> queue, String name) {
    AtomicInteger threads = new AtomicInteger();
    return new ThreadPoolExecutor(
        core,
        most,
        IDLE_SECONDS,
        TimeUnit.SECONDS,
        queue,
        task -> {
          // Nothing of the tenant that happens to make the thread stays with it.
          Thread thread = new Thread(null, task, name + threads.incrementAndGet(), 0, false);
          thread.setContextClassLoader(VectoredThreads.class.getClassLoader());
          thread.setDaemon(true);
          return thread;
        });
  }

  /** For one tenant, which closes it. */
  BoundedExecutor copyingOfTenant() {
    return new BoundedExecutor(copying, processors);
  }

  /** For one tenant, which closes it. */
  BoundedExecutor waitingOfTenant() {
    return new BoundedExecutor(waiting, WAITING_OF_TENANT);
  }

  /** Refuses what comes from now on; what was accepted is run. */
  @Override
  public void close() {
    copying.shutdown();
    waiting.shutdown();
  }
}
