// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.stages;

/** Adds up what one task has read for one scan. Any thread. */
public final class ScanAccount implements ReadTally {
  // Guarded by this.
  private ReadCounts sum = ReadCounts.NONE;

  @Override
  public synchronized void add(ReadCounts counts) {
    sum = sum.plus(counts);
  }

  /** What was read by streams that are closed. */
  public synchronized ReadCounts sum() {
    return sum.withBytesFromMemory();
  }
}
