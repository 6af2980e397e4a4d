// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.cost;

/**
 * What reading some data, and computing on it, cost by estimate, in US dollars. The components are
 * fields of Spark's event logs, so their names stay.
 *
 * @param requestsUsd GETs and HEADs
 * @param vcpuUsd processor time of the tasks
 * @param blockedUsd slots that were taken by tasks which waited for reads
 */
public record Bill(double requestsUsd, double vcpuUsd, double blockedUsd) {
  public static final Bill NONE = new Bill(0, 0, 0);

  private static final double TERABYTE = 1e12;

  public double totalUsd() {
    return requestsUsd + vcpuUsd + blockedUsd;
  }

  /**
   * The price of each TB (10^12).
   *
   * @param bytes that were read for it; more than 0
   */
  public double usdPerTerabyte(long bytes) {
    return totalUsd() * TERABYTE / bytes;
  }

  /** The sum of both. */
  public Bill plus(Bill other) {
    return new Bill(
        requestsUsd + other.requestsUsd, vcpuUsd + other.vcpuUsd, blockedUsd + other.blockedUsd);
  }
}
