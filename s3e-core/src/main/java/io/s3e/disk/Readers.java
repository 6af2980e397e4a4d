// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import io.s3e.jvm.Background;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.DiskMetrics.Counter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The threads that read in one directory, each with memory of its own, and whether the directory is
 * to be read. Only these touch the disk for a reader, so what hangs there holds them and nobody
 * else: a read that hangs is given up by its deadline, and after some of those the directory is
 * left alone. When the pause is over the next read is the probe; if it does not come through in
 * time either, because it stands behind what hangs, the pause is doubled. Any thread.
 */
final class Readers {
  private static final Logger LOG = LoggerFactory.getLogger(Readers.class);

  /** Enough for a disk to have a queue; from the page cache two keep a processor each busy. */
  static final int THREADS = 4;

  private final DiskMetrics metrics;
  private final Breaker breaker;

  /** The longest that a read of 1 MiB may take. */
  final long deadlineNanos;

  private final ThreadPoolExecutor threads;

  /** Of all directories of the cache. */
  final RecentChunks recent;

  /** Readers of threads that are not reading just now: one for each thread that there may be. */
  private final Queue<ChunkReader> idle = new ConcurrentLinkedQueue<>();

  /** When a read came back from the disk last, by {@link System#nanoTime()}. */
  private volatile long lastEndNanos = System.nanoTime();

  Readers(
      ChunkIndex index,
      RecentChunks recent,
      DiskMetrics metrics,
      Breaker breaker,
      boolean sealed,
      long deadlineNanos) {
    this.recent = recent;
    this.metrics = metrics;
    this.breaker = breaker;
    this.deadlineNanos = deadlineNanos;
    for (int i = 0; i < THREADS; i++) {
      idle.add(new ChunkReader(index, metrics, sealed));
    }
    this.threads = Background.pool("s3e-disk-", THREADS);
  }

  /** Whether a read may go to the disk: while the directory is left alone only a probe passes. */
  boolean admits() {
    return breaker.allows() || breaker.tryProbe();
  }

  /** What one of the threads does for a read, and what any thread does if none of them will. */
  record Task(Runnable read, Runnable refused) implements Runnable {
    @Override
    public void run() {
      read.run();
    }
  }

  /** Runs a task on a reading thread; false if there is none. */
  boolean execute(Task task) {
    try {
      threads.execute(task);
      return true;
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      // The cache is closed, or the system has no thread to give.
      return false;
    }
  }

  /** Whether others wait for a reading thread. */
  boolean isAwaited() {
    return !threads.getQueue().isEmpty();
  }

  /** Reads chunks on the calling thread, one of these; the chunk after the last that was taken. */
  int readChunks(ChunkRange wanted, ChunkReader.Sink sink) {
    ChunkReader reader = idle.remove();
    try {
      int taken = reader.read(wanted.object(), wanted.first(), wanted.end(), sink);
      if (reader.touchedDisk) {
        breaker.success();
      } else {
        // A read that found nothing in the index says nothing of the disk.
        breaker.unused();
      }
      return taken;
    } catch (IOException | RuntimeException | Error e) {
      LOG.debug("Read of {} failed", wanted, e);
      metrics.count(Counter.READ_ERRORS);
      breaker.failure(Breaker.Cause.of(e));
      return wanted.first();
    } finally {
      lastEndNanos = System.nanoTime();
      idle.add(reader);
    }
  }

  /** A read passed its deadline; begun if the disk has had it, and not the queue alone. */
  void timedOut(boolean begun) {
    metrics.count(Counter.TIMEOUTS);
    // What still stands in the queue stands behind what hangs: a probe, and every read if none has
    // come through for as long as this one has waited.
    boolean hangs = System.nanoTime() - lastEndNanos > deadlineNanos;
    if (begun || hangs || !breaker.allows()) {
      breaker.failure(Breaker.Cause.SLOW);
    }
    if (!breaker.allows()) {
      // They need not wait for a disk that may never come back, which would also keep the memory of
      // those that have left.
      List<Runnable> waiting = new ArrayList<>();
      threads.getQueue().drainTo(waiting);
      refuse(waiting);
    }
  }

  private static void refuse(List<Runnable> tasks) {
    tasks.forEach(task -> ((Task) task).refused().run());
  }

  void stop() {
    threads.shutdown();
  }

  /** Waits until then for what is under way; what hangs is left to its daemon threads. */
  void awaitEnd(long deadlineNanos) {
    try {
      long left = deadlineNanos - System.nanoTime();
      if (!threads.awaitTermination(left, TimeUnit.NANOSECONDS)) {
        LOG.warn("Reading from the cache on disk hangs; left behind");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    refuse(threads.shutdownNow());
  }
}
