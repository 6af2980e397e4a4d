// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

/**
 * A part of a run that is measured by itself, beside the whole.
 *
 * @param kind which part
 * @param wallNanos from its begin to its end
 * @param bytesUsed bytes that the application got in it
 * @param readP50Nanos median time of its calls; -1 when there were none
 * @param readP99Nanos 99th percentile of the same
 */
public record Part(
    Kind kind, long wallNanos, long bytesUsed, long readP50Nanos, long readP99Nanos) {

  /** The kinds of parts that are measured by themselves. */
  public enum Kind {
    /** From the open of a file until its first byte is there. */
    FIRST_BYTE,
    /** A file from its open to its close. */
    WHOLE,
    /** The row groups after the first one, at the pace of their consumer. */
    AFTER_FIRST_GROUP,
    /** The scan of one file system of several, nobody else reading; once for each. */
    IN_TURN,
    /** The scans of all file systems at once. */
    TOGETHER,
    /** Positioned reads, nobody else reading. */
    READS_ALONE,
    /** A scan, nobody else reading. */
    SCAN_ALONE,
    /** The same positioned reads under a disturbance. */
    READS_DISTURBED,
    /** The same scan under a disturbance. */
    SCAN_DISTURBED
  }

  /** Bytes used a second, in MB/s (10^6). */
  public double megabytesPerSecond() {
    return bytesUsed * 1e3 / wallNanos;
  }
}
