// SPDX-License-Identifier: Apache-2.0
package io.s3e.explain;

/**
 * What time and requests cost, so that both are ranked by one measure.
 *
 * @param vcpuHour an hour of a task slot in US dollars
 * @param thousandRequests 1,000 GETs or HEADs in US dollars
 */
record Prices(double vcpuHour, double thousandRequests) {
  private static final double MILLIS_OF_HOUR = 3_600_000;

  double of(long slotMillis, long requests) {
    return slotMillis / MILLIS_OF_HOUR * vcpuHour + requests / 1000.0 * thousandRequests;
  }

  double of(Saving saving) {
    return of(saving.slotMillis(), saving.requests());
  }
}
