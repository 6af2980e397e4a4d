// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.stages;

import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsAggregator;
import org.jspecify.annotations.Nullable;

/** Adds up what one task has read for one scan. Any thread. */
public final class ScanAccount implements IOStatisticsAggregator {
  // Guarded by this.
  private ReadCounts sum = ReadCounts.NONE;

  @Override
  public boolean aggregate(@Nullable IOStatistics statistics) {
    if (statistics == null) {
      return false;
    }
    ReadCounts counts = StreamCounts.of(statistics);
    synchronized (this) {
      sum = sum.plus(counts);
    }
    return true;
  }

  /** What was read by streams that are closed. */
  public synchronized ReadCounts sum() {
    return sum;
  }
}
