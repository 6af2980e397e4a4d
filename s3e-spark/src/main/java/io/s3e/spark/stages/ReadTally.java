// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.stages;

import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsAggregator;
import org.jspecify.annotations.Nullable;

/** Adds up what streams read, which the adapter tells as Hadoop's statistics. Any thread. */
@FunctionalInterface
interface ReadTally extends IOStatisticsAggregator {
  void add(ReadCounts counts);

  @Override
  default boolean aggregate(@Nullable IOStatistics statistics) {
    if (statistics == null) {
      return false;
    }
    add(StreamCounts.of(statistics));
    return true;
  }
}
