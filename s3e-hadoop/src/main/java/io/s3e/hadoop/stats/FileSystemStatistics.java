// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.stats;

import static io.s3e.hadoop.stats.ReadStatistic.S3E_CACHE_BREAKERS_OPEN;
import static io.s3e.hadoop.stats.ReadStatistic.S3E_CACHE_BYTES;
import static io.s3e.hadoop.stats.ReadStatistic.S3E_CACHE_CAPACITY_BYTES;
import static io.s3e.hadoop.stats.ReadStatistic.S3E_CLIENT_FALLBACK;
import static io.s3e.hadoop.stats.ReadStatistic.S3E_HELD_BYTES;
import static io.s3e.hadoop.stats.ReadStatistic.S3E_PREFETCH_HELD_BYTES;
import static io.s3e.hadoop.stats.ReadStatistic.STREAM_READ_ACTIVE_MEMORY_IN_USE;

import io.s3e.DiskUse;
import io.s3e.S3E;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.EngineMetrics;
import io.s3e.metrics.EngineMetrics.Counter;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.jspecify.annotations.Nullable;

/**
 * The work of one file system's engine, under the names of {@link ReadStatistic}, beside S3A's
 * statistics of it. Live, open streams included; 0 before there is an engine. Any thread.
 */
public final class FileSystemStatistics {
  private static final EngineMetrics NOTHING_DONE = new EngineMetrics();
  private static final DiskUse NOTHING_USED = new DiskUse(0, 0);

  private final Supplier<@Nullable S3E> engine;
  private final LongAdder clientFallbacks = new LongAdder();

  /**
   * @param engine null before the first read
   */
  public FileSystemStatistics(Supplier<@Nullable S3E> engine) {
    this.engine = engine;
  }

  /**
   * To be run when reading goes from S3E's own client over to S3A's. Leads to no file system: what
   * has it may outlive one that is forgotten.
   */
  public Runnable onClientFallback() {
    return clientFallbacks::increment;
  }

  /** S3A's statistics with these beside them. */
  public IOStatistics beside(IOStatistics ofS3A) {
    return new JoinedStatistics(ofS3A, this::counters, this::gauges);
  }

  Map<String, Long> counters() {
    Map<String, Long> now = ReadStatistic.ofFileSystem(metrics());
    now.put(S3E_CLIENT_FALLBACK.symbol(), clientFallbacks.sum());
    return now;
  }

  Map<String, Long> gauges() {
    S3E made = engine.get();
    DiskUse disk = made == null ? null : made.diskUse();
    if (disk == null) {
      disk = NOTHING_USED;
    }
    Map<String, Long> now = new TreeMap<>();
    now.put(STREAM_READ_ACTIVE_MEMORY_IN_USE.symbol(), made == null ? 0 : made.memoryBytes());
    now.put(S3E_PREFETCH_HELD_BYTES.symbol(), held(metrics()));
    now.put(S3E_HELD_BYTES.symbol(), metrics().get(Counter.HELD_BYTES));
    now.put(
        S3E_CACHE_BREAKERS_OPEN.symbol(), metrics().disk().get(DiskMetrics.Counter.BREAKERS_OPEN));
    now.put(S3E_CACHE_BYTES.symbol(), disk.bytes());
    now.put(S3E_CACHE_CAPACITY_BYTES.symbol(), disk.capacityBytes());
    return now;
  }

  /**
   * The counters of bytes that left are asked before those of bytes that came: so it is never less
   * than 0.
   */
  private static long held(EngineMetrics metrics) {
    long left =
        metrics.get(Counter.PREFETCH_USED_BYTES) + metrics.get(Counter.PREFETCH_WASTED_BYTES);
    return metrics.get(Counter.PREFETCHED_BYTES) - left;
  }

  private EngineMetrics metrics() {
    S3E made = engine.get();
    return made == null ? NOTHING_DONE : made.metrics();
  }
}
