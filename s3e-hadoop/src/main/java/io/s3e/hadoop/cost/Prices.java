// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.cost;

import java.io.Serializable;

/**
 * What time and requests cost, so that both are ranked, and added up, by one measure.
 *
 * @param vcpuHour an hour of a virtual processor in US dollars; a task slot has one
 * @param thousandRequests 1,000 GETs or HEADs in US dollars
 */
public record Prices(double vcpuHour, double thousandRequests) implements Serializable {
  private static final long serialVersionUID = 1;

  /**
   * Requests: "GET, SELECT, and all other requests" of S3 Standard in us-east-1
   * (https://aws.amazon.com/s3/pricing/). A virtual processor: about what general purpose instances
   * of the present generation cost on demand there.
   */
  public static final Prices LIST = new Prices(0.05, 0.0004);

  private static final double MILLIS_OF_HOUR = 3_600_000;
  private static final double NANOS_OF_HOUR = MILLIS_OF_HOUR * 1_000_000;

  public double of(long slotMillis, long requests) {
    return slotMillis / MILLIS_OF_HOUR * vcpuHour + ofRequests(requests);
  }

  public double of(Saving saving) {
    return of(saving.slotMillis(), saving.requests());
  }

  /**
   * The bill of some work.
   *
   * @param requests GETs and HEADs
   * @param vcpuNanos time of processors
   * @param blockedNanos time in which task slots waited for reads, and did not compute
   */
  public Bill bill(long requests, long vcpuNanos, long blockedNanos) {
    return new Bill(ofRequests(requests), ofNanos(vcpuNanos), ofNanos(blockedNanos));
  }

  private double ofRequests(long requests) {
    return requests / 1000.0 * thousandRequests;
  }

  private double ofNanos(long nanos) {
    return nanos / NANOS_OF_HOUR * vcpuHour;
  }
}
