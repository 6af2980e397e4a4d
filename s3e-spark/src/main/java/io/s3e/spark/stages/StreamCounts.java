// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.stages;

import java.util.Map;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.StoreStatisticNames;

/**
 * Reads the counts of a stream out of Hadoop's statistics of it, or out of what has come to them
 * since: where a block is read after its stream was closed, fewer bytes are unread than before.
 * What was in memory is a matter of the account, {@link ReadCounts#withBytesFromMemory()}.
 */
final class StreamCounts {
  private StreamCounts() {}

  static ReadCounts of(IOStatistics statistics) {
    Map<String, Long> counters = statistics.counters();
    long prefetched = get(counters, "s3e_prefetched_bytes");
    return new ReadCounts(
        0,
        0,
        get(counters, "stream_read_bytes"),
        0,
        get(counters, "s3e_cache_hit_bytes"),
        get(counters, "s3e_fetched_bytes"),
        get(counters, "s3e_gets"),
        get(counters, "s3e_prefetch_gets"),
        get(counters, "s3e_get_retries"),
        get(counters, "s3e_gets_throttled"),
        get(counters, "s3e_hedges"),
        get(counters, "s3e_memory_hits"),
        get(counters, "s3e_cache_hits"),
        get(counters, "s3e_read_waits"),
        get(counters, "s3e_read_wait_nanos"),
        prefetched,
        prefetched - get(counters, "s3e_prefetch_used_bytes"),
        get(counters, StoreStatisticNames.ACTION_HTTP_HEAD_REQUEST),
        0);
  }

  private static long get(Map<String, Long> counters, String name) {
    return counters.getOrDefault(name, 0L);
  }
}
