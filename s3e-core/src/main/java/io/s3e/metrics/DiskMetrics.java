// SPDX-License-Identifier: Apache-2.0
package io.s3e.metrics;

/**
 * Counters of the disk cache of one engine, since it was opened. They only grow, but for the gauges
 * among them. Any thread.
 */
public final class DiskMetrics extends Counters<DiskMetrics.Counter> {
  /** The counters. */
  public enum Counter {
    /** Reads that the disk answered in full. */
    HITS,
    /** Bytes that readers took from disk. */
    HIT_BYTES,
    /** Reads that were looked for on disk and went to S3. */
    MISSES,
    /** Bytes that missing reads asked of S3. */
    MISS_BYTES,
    /** Bytes offered to be written: each is written or dropped, once. */
    OFFERED_BYTES,
    /** Writes to a region. */
    WRITES,
    /** Written bytes, of the offered ones. */
    WRITTEN_BYTES,
    /** Bytes dropped because the disk was slower than S3, and enough waited in memory already. */
    DROPPED_BEHIND_BYTES,
    /** Bytes dropped because a reader that waited needed their memory, or their tenant closed. */
    DROPPED_EVICTED_BYTES,
    /** Bytes dropped because the disk is too full, or other processes have all regions. */
    DROPPED_SPACE_BYTES,
    /** Bytes dropped because writing failed, or failed lately and is not tried for a while. */
    DROPPED_FAULT_BYTES,
    /** Bytes dropped because they are on disk by now, written by another process as a rule. */
    DROPPED_PRESENT_BYTES,
    /** Bytes dropped because the cache was closed. */
    DROPPED_CLOSED_BYTES,
    /** Bytes from S3 that are not offered: not worth it, or the disk is slower. */
    NOT_ADMITTED_BYTES,
    /** Chunks that were not what they should be, and were forgotten. */
    CORRUPTIONS,
    /** Operations of reading that failed. */
    READ_ERRORS,
    /** Operations of writing that failed. */
    WRITE_ERRORS,
    /** Reads left behind because they passed their deadline. */
    TIMEOUTS,
    /** Regions that were begun anew to make room. */
    EVICTIONS,
    /** Bytes that evicted regions held. */
    EVICTED_BYTES,
    /** Times that reading from a directory, or writing to it, was given up after failures. */
    BREAKER_OPENED,
    /** Gauge: directories that are given up now, for reading or writing, until a trial succeeds. */
    BREAKERS_OPEN
  }

  public DiskMetrics() {
    super(Counter.class);
  }
}
