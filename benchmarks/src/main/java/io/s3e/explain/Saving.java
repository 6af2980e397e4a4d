// SPDX-License-Identifier: Apache-2.0
package io.s3e.explain;

/**
 * An estimate of what a change saves.
 *
 * @param slotMillis time of task slots
 * @param requests GETs and HEADs
 */
record Saving(long slotMillis, long requests) {
  static final Saving NONE = new Saving(0, 0);

  Saving {
    slotMillis = Math.max(0, slotMillis);
    requests = Math.max(0, requests);
  }
}
