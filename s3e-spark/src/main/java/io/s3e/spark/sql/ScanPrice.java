// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.sql;

import io.s3e.hadoop.cost.Bill;
import io.s3e.hadoop.cost.Prices;
import io.s3e.hadoop.cost.Sizes;
import io.s3e.spark.stages.ReadCounts;
import java.util.Arrays;
import org.apache.spark.sql.connector.metric.CustomMetric;

/**
 * What the reads of a scan cost by estimate, as a metric of its node: requests, and task slots that
 * waited for them. The processor time of a task is not a scan's alone, and is in the bill of the
 * stage.
 *
 * <p>Tasks count in billionths of a dollar, since a request costs less than a millionth. Spark
 * makes one of this class by its name where it shows the sum, in the driver and in the History
 * Server; where the History Server has not got the jar, it shows N/A.
 */
public final class ScanPrice implements CustomMetric {
  private static final double NANO = 1e9;

  /** Billionths of a dollar. */
  static long of(ReadCounts reads, Prices prices) {
    Bill bill = reads.bill(prices);
    return Math.round((bill.requestsUsd() + bill.blockedUsd()) * NANO);
  }

  @Override
  public String name() {
    return "s3ePrice";
  }

  @Override
  public String description() {
    return "price of requests and of time blocked, by estimate";
  }

  @Override
  public String aggregateTaskMetrics(long[] ofTasks) {
    return Sizes.dollars(Arrays.stream(ofTasks).sum() / NANO);
  }
}
