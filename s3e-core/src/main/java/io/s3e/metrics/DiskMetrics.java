package io.s3e.metrics;

/**
 * What the disk cache of one engine has done since it was opened. Counters only grow, but for the
 * gauges among them. Any thread.
 */
public final class DiskMetrics extends Counters<DiskMetrics.Counter> {
  /** The counters. */
  public enum Counter {
    /** Reads of a run of chunks that the disk answered in full. */
    HITS,
    /** Bytes that those brought. */
    HIT_BYTES,
    /** Reads that were looked for on disk and went to S3. */
    MISSES,
    /** Bytes that those asked of S3. */
    MISS_BYTES,
    /** Files written. */
    WRITES,
    /** Bytes of object data in them. */
    WRITTEN_BYTES,
    /** Bytes dropped because the queue was full. */
    DROPPED_FULL_BYTES,
    /** Bytes dropped because they had waited too long. */
    DROPPED_AGED_BYTES,
    /** Bytes dropped because of the limit of the write rate. */
    DROPPED_RATE_BYTES,
    /** Bytes dropped because there was no space on disk for them. */
    DROPPED_SPACE_BYTES,
    /** Bytes dropped because writing failed lately, and is not tried for a while. */
    DROPPED_FAULT_BYTES,
    /** Bytes that admission did not find worth writing. */
    NOT_ADMITTED_BYTES,
    /** Files that were not what they should be, and were deleted. */
    CORRUPTIONS,
    /** Operations of reading that failed. */
    READ_ERRORS,
    /** Operations of writing that failed. */
    WRITE_ERRORS,
    /** Reads left behind because they passed their deadline. */
    TIMEOUTS,
    /** Files deleted to make room. */
    EVICTIONS,
    /** Bytes that those took on disk. */
    EVICTED_BYTES,
    /** Reads that waited for another process to fetch the same bytes. */
    CLAIM_WAITS,
    /** The part of those that did not get them in time. */
    CLAIM_TIMEOUTS,
    /** Times that reading from a directory, or writing to it, was given up after failures. */
    BREAKER_OPENED,
    /** Gauge: how many of those are given up now, until a trial succeeds. */
    BREAKERS_OPEN
  }

  public DiskMetrics() {
    super(Counter.class);
  }
}
