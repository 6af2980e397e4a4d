// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.metrics;

import com.codahale.metrics.Counter;
import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import io.s3e.hadoop.client.OpenEngines;
import io.s3e.hadoop.client.OpenEngines.Work;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.EngineMetrics;
import io.s3e.spark.stages.ReadCounts;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/**
 * The metrics of one process, under the names that docs/SPARK.md lists. Each is asked of the
 * engines when a sink looks at it; nothing is counted twice here.
 */
public final class ProcessMetrics {
  private final MetricRegistry registry;
  private final Supplier<ReadCounts> streams;

  private ProcessMetrics(MetricRegistry registry, Supplier<ReadCounts> streams) {
    this.registry = registry;
    this.streams = streams;
  }

  /**
   * Adds all metrics to a registry.
   *
   * @param streams what streams of this process have read that are closed, and the HEADs sent
   */
  public static void register(MetricRegistry registry, Supplier<ReadCounts> streams) {
    ProcessMetrics metrics = new ProcessMetrics(registry, streams);
    metrics.bytes();
    metrics.columnar();
    metrics.requests();
    metrics.rates();
    metrics.held();
  }

  private void bytes() {
    stream("bytesRead", ReadCounts::bytesRead);
    stream("bytesFromMemory", ReadCounts::bytesFromMemory);
    disk("bytesFromDisk", DiskMetrics.Counter.HIT_BYTES);
    engine("bytesFromS3", EngineMetrics.Counter.FETCHED_BYTES);
    engine("prefetchedBytes", EngineMetrics.Counter.PREFETCHED_BYTES);
    engine("prefetchUsedBytes", EngineMetrics.Counter.PREFETCH_USED_BYTES);
    engine("prefetchWastedBytes", EngineMetrics.Counter.PREFETCH_WASTED_BYTES);
    engine("discardedBytes", EngineMetrics.Counter.DISCARDED_BYTES);
    engine("usedBytes", EngineMetrics.Counter.USED_BYTES);
    engine("wastedBytes", EngineMetrics.Counter.WASTED_BYTES);
    gauge("heldBytes", () -> OpenEngines.work().metrics().get(EngineMetrics.Counter.HELD_BYTES));
  }

  private void columnar() {
    engine("columnarFooters", EngineMetrics.Counter.COLUMNAR_FOOTERS);
    engine("columnarFootersRefused", EngineMetrics.Counter.COLUMNAR_FOOTERS_REFUSED);
    engine("columnarAskedBytes", EngineMetrics.Counter.COLUMNAR_ASKED_BYTES);
    engine("columnarGroupUsedBytes", EngineMetrics.Counter.COLUMNAR_GROUP_USED_BYTES);
    engine("columnarGroupWastedBytes", EngineMetrics.Counter.COLUMNAR_GROUP_WASTED_BYTES);
    engine("columnarTailUsedBytes", EngineMetrics.Counter.COLUMNAR_TAIL_USED_BYTES);
    engine("columnarTailWastedBytes", EngineMetrics.Counter.COLUMNAR_TAIL_WASTED_BYTES);
  }

  private void requests() {
    stream("heads", ReadCounts::heads);
    engine("gets", EngineMetrics.Counter.GETS);
    engine("prefetchGets", EngineMetrics.Counter.PREFETCH_GETS);
    engine("retries", EngineMetrics.Counter.RETRIES);
    engine("throttled", EngineMetrics.Counter.THROTTLED);
    engine("hedges", EngineMetrics.Counter.HEDGES);
    engine("hedgesWon", EngineMetrics.Counter.HEDGES_WON);
    engine("failures", EngineMetrics.Counter.FAILURES);
    engine("memoryHits", EngineMetrics.Counter.MEMORY_HITS);
    engine("readWaits", EngineMetrics.Counter.WAITS);
    engine("readWaitNanos", EngineMetrics.Counter.WAIT_NANOS);
    disk("diskHits", DiskMetrics.Counter.HITS);
    disk("diskMisses", DiskMetrics.Counter.MISSES);
    disk("diskWrittenBytes", DiskMetrics.Counter.WRITTEN_BYTES);
  }

  private void rates() {
    gauge(
        "memoryHitRate",
        () -> {
          Work work = OpenEngines.work();
          long hits = work.metrics().get(EngineMetrics.Counter.MEMORY_HITS);
          return share(hits, work.metrics().get(EngineMetrics.Counter.WAITS));
        });
    gauge(
        "diskHitRate",
        () -> {
          Work work = OpenEngines.work();
          long hits = work.metrics().disk().get(DiskMetrics.Counter.HIT_BYTES);
          return share(hits, work.metrics().get(EngineMetrics.Counter.FETCHED_BYTES));
        });
  }

  private void held() {
    gauge("memoryUsedBytes", () -> OpenEngines.work().memoryBytes());
    gauge("memoryBudgetBytes", () -> OpenEngines.work().memoryLimit());
    gauge("diskUsedBytes", () -> OpenEngines.work().diskUse().bytes());
    gauge("diskCapacityBytes", () -> OpenEngines.work().diskUse().capacityBytes());
  }

  /** 0 where nothing has been asked for. */
  private static double share(long hits, long others) {
    return hits + others == 0 ? 0 : (double) hits / (hits + others);
  }

  private void engine(String name, EngineMetrics.Counter counter) {
    counter(name, () -> OpenEngines.work().metrics().get(counter));
  }

  private void disk(String name, DiskMetrics.Counter counter) {
    counter(name, () -> OpenEngines.work().metrics().disk().get(counter));
  }

  private void stream(String name, ToLongFunction<ReadCounts> count) {
    counter(name, () -> count.applyAsLong(streams.get()));
  }

  private void counter(String name, LongSupplier now) {
    registry.register(name, new Asked(now));
  }

  private <T> void gauge(String name, Supplier<T> now) {
    registry.register(name, (Gauge<T>) now::get);
  }

  /** A counter that somebody else counts. */
  private static final class Asked extends Counter {
    private final LongSupplier now;

    Asked(LongSupplier now) {
      this.now = now;
    }

    @Override
    public long getCount() {
      return now.getAsLong();
    }
  }
}
