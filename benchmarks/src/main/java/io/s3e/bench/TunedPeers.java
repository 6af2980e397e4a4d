// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import io.s3e.bench.workload.WorkloadKind;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * S3A's streams as well tuned for each workload as their documentation tells a user how to. The
 * sources named here are pages of hadoop-aws 3.5.0 and of analytics-accelerator-s3 1.3.1. Where a
 * page gives a direction and no number, the number is what the rig's own link needs.
 */
final class TunedPeers {

  private static final String ANALYTICS = "fs.s3a.analytics.accelerator.";

  /** More streams than this have too little heap for longer prefetch each. */
  private static final int FEW_STREAMS = 4;

  private static final long MEBIBYTE = 1L << 20;

  private TunedPeers() {}

  static Map<String, String> classic(WorkloadKind workload) {
    Map<String, String> settings = pools();
    // performance.md, "Improving data input performance through fadvise": sequential for whole
    // files, random for positioned reads, long seeks and columns.
    settings.put(
        "fs.s3a.experimental.input.fadvise", workload.readsInOrder() ? "sequential" : "random");
    // performance.md, "Improving read performance using Vectored IO": how many ranges of a stream
    // are fetched at a time (4 by default). Merging is left as 3.5.0 has it.
    settings.put("fs.s3a.vectored.active.ranged.reads", "16");
    return settings;
  }

  static Map<String, String> prefetch(WorkloadKind workload) {
    Map<String, String> settings = pools();
    if (workload.readsInOrder()) {
      // prefetching.md: blocks ahead of a sequential reader (8 by default), of 8 MiB of heap each.
      if (workload.streams() <= FEW_STREAMS) {
        settings.put("fs.s3a.prefetch.block.count", "16");
      }
    } else {
      // prefetching.md: "an entire block is read and returned or none at all", so what reads here
      // and there should have small ones.
      settings.put("fs.s3a.prefetch.block.size", "1M");
      // Constants.java: blocks kept on the local disk for seeks back (4 by default).
      settings.put("fs.s3a.prefetch.max.blocks.count", "64");
    }
    return settings;
  }

  static Map<String, String> analytics(WorkloadKind workload) {
    Map<String, String> settings = pools();
    // README, "Memory Used by Library": blocks are kept on the heap, up to 2 GiB by default, and
    // the limit is overstepped between two clean-ups (5 s by default).
    settings.put(ANALYTICS + "physicalio.max.memory.limit", Long.toString(1024 * MEBIBYTE));
    settings.put(ANALYTICS + "physicalio.memory.cleanup.frequency", "1000");
    // README, "Standalone Usage": a higher concurrency than the default to benefit fully.
    settings.put(ANALYTICS + "physicalio.thread.pool.size", "256");
    if (workload.readsInOrder()) {
      // README, "Summary of Optimizations": text is prefetched by partitions of 128 MiB if its name
      // ends in .txt; the names of these objects do not.
      settings.put(ANALYTICS + "logicalio.txt.format.selector.regex", "^.*$");
      long partition = Math.min(128, Math.max(8, 1024 / workload.streams())) * MEBIBYTE;
      settings.put(ANALYTICS + "logicalio.partition.size", Long.toString(partition));
    }
    return settings;
  }

  /**
   * performance.md, "Thread and connection pool settings": with vectored reads and prefetch "larger
   * pool and thread sizes are even more important"; everything uses one pool of connections.
   */
  private static Map<String, String> pools() {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("fs.s3a.threads.max", "256");
    settings.put("fs.s3a.connection.maximum", "1000");
    settings.put("fs.s3a.executor.capacity", "64");
    return settings;
  }
}
