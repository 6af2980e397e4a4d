// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.cost;

/**
 * An estimate of what a change saves.
 *
 * @param slotMillis time of task slots
 * @param requests GETs and HEADs
 */
public record Saving(long slotMillis, long requests) {
  public static final Saving NONE = new Saving(0, 0);

  public Saving {
    slotMillis = Math.max(0, slotMillis);
    requests = Math.max(0, requests);
  }
}
