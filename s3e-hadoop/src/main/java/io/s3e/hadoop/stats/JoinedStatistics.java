// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.stats;

import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsLogging;
import org.apache.hadoop.fs.statistics.MeanStatistic;

/**
 * S3A's statistics with counters and gauges beside them that S3A has no place for: its stores count
 * only names that they were made with. As live as what it is made of. Any thread.
 */
public final class JoinedStatistics implements IOStatistics {
  private final IOStatistics base;
  private final Supplier<Map<String, Long>> counters;
  private final Supplier<Map<String, Long>> gauges;

  public JoinedStatistics(
      IOStatistics base, Supplier<Map<String, Long>> counters, Supplier<Map<String, Long>> gauges) {
    this.base = base;
    this.counters = counters;
    this.gauges = gauges;
  }

  @Override
  public Map<String, Long> counters() {
    Map<String, Long> beside = counters.get();
    return joined(base.counters(), beside);
  }

  @Override
  public Map<String, Long> gauges() {
    return joined(base.gauges(), gauges.get());
  }

  private static Map<String, Long> joined(Map<String, Long> one, Map<String, Long> other) {
    Map<String, Long> all = new TreeMap<>(one);
    all.putAll(other);
    return all;
  }

  @Override
  public Map<String, Long> minimums() {
    return base.minimums();
  }

  @Override
  public Map<String, Long> maximums() {
    return base.maximums();
  }

  @Override
  public Map<String, MeanStatistic> meanStatistics() {
    return base.meanStatistics();
  }

  @Override
  public String toString() {
    return IOStatisticsLogging.ioStatisticsToString(this);
  }
}
