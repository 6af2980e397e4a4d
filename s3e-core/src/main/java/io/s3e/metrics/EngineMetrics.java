package io.s3e.metrics;

import java.util.concurrent.atomic.LongAdder;

/**
 * What one engine has done since it was created. Counters only grow; they are exact once nothing is
 * in flight. Any thread.
 */
public final class EngineMetrics {
  private final LongAdder gets = new LongAdder();
  private final LongAdder prefetchGets = new LongAdder();
  private final LongAdder retries = new LongAdder();
  private final LongAdder failures = new LongAdder();
  private final LongAdder bytesFetched = new LongAdder();
  private final LongAdder memoryHits = new LongAdder();
  private final LongAdder serialWaits = new LongAdder();
  private final LongAdder waitNanos = new LongAdder();
  private final LongAdder prefetchUsedBytes = new LongAdder();
  private final LongAdder prefetchWastedBytes = new LongAdder();
  private final LongAdder prefetchRefused = new LongAdder();
  private final DiskMetrics disk = new DiskMetrics();

  public void getStarted(boolean prefetch) {
    gets.increment();
    if (prefetch) {
      prefetchGets.increment();
    }
  }

  public void bytesFetched(long bytes) {
    bytesFetched.add(bytes);
  }

  public void retried() {
    retries.increment();
  }

  public void failed() {
    failures.increment();
  }

  public void memoryHit() {
    memoryHits.increment();
  }

  public void waited(long nanos) {
    serialWaits.increment();
    waitNanos.add(nanos);
  }

  public void prefetchUsed(long bytes) {
    prefetchUsedBytes.add(bytes);
  }

  public void prefetchWasted(long bytes) {
    prefetchWastedBytes.add(bytes);
  }

  public void prefetchRefused() {
    prefetchRefused.increment();
  }

  /** What the cache on local disk has done. */
  public DiskMetrics disk() {
    return disk;
  }

  /** The counters now. */
  public Snapshot snapshot() {
    return new Snapshot(
        gets.sum(),
        prefetchGets.sum(),
        retries.sum(),
        failures.sum(),
        bytesFetched.sum(),
        memoryHits.sum(),
        serialWaits.sum(),
        waitNanos.sum(),
        prefetchUsedBytes.sum(),
        prefetchWastedBytes.sum(),
        prefetchRefused.sum());
  }

  /**
   * The counters at one moment.
   *
   * @param gets GETs sent, retries included
   * @param prefetchGets those of them that nobody waited for when they were sent
   * @param retries GETs sent again after a failure
   * @param failures runs of blocks that failed for good
   * @param bytesFetched bytes of bodies received and accepted
   * @param memoryHits blocks found in memory when a reader came to them
   * @param serialWaits times that a reader waited for a block
   * @param waitNanos how long they waited in all, in ns
   * @param prefetchUsedBytes prefetched bytes that were read; what a reader's own GET takes along
   *     when there is no room for a guess is not prefetched
   * @param prefetchWastedBytes prefetched bytes that were dropped unread
   * @param prefetchRefused prefetches that memory or concurrency refused
   */
  public record Snapshot(
      long gets,
      long prefetchGets,
      long retries,
      long failures,
      long bytesFetched,
      long memoryHits,
      long serialWaits,
      long waitNanos,
      long prefetchUsedBytes,
      long prefetchWastedBytes,
      long prefetchRefused) {}
}
