// SPDX-License-Identifier: Apache-2.0
package io.s3e.explain;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * What S3E's plugin says of a stage: the sum of its events, whose fields are those of {@code
 * io.s3e.spark.stages.ReadCounts}. A field that the log lacks is 0.
 */
record S3eReads(
    long bytesRead,
    long bytesFromMemory,
    long bytesFromDisk,
    long bytesFromS3,
    long gets,
    long retries,
    long throttled,
    long readWaits,
    long readWaitNanos,
    long prefetchedBytes,
    long prefetchWastedBytes) {
  static final S3eReads NONE = new S3eReads(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

  static S3eReads of(JsonNode counts) {
    return new S3eReads(
        counts.path("bytesRead").asLong(),
        counts.path("bytesFromMemory").asLong(),
        counts.path("bytesFromDisk").asLong(),
        counts.path("bytesFromS3").asLong(),
        counts.path("gets").asLong(),
        counts.path("retries").asLong(),
        counts.path("throttled").asLong(),
        counts.path("readWaits").asLong(),
        counts.path("readWaitNanos").asLong(),
        counts.path("prefetchedBytes").asLong(),
        counts.path("prefetchWastedBytes").asLong());
  }

  S3eReads plus(S3eReads other) {
    return new S3eReads(
        bytesRead + other.bytesRead,
        bytesFromMemory + other.bytesFromMemory,
        bytesFromDisk + other.bytesFromDisk,
        bytesFromS3 + other.bytesFromS3,
        gets + other.gets,
        retries + other.retries,
        throttled + other.throttled,
        readWaits + other.readWaits,
        readWaitNanos + other.readWaitNanos,
        prefetchedBytes + other.prefetchedBytes,
        prefetchWastedBytes + other.prefetchWastedBytes);
  }

  /** The part of a scan, where a stage has several. */
  S3eReads times(double share) {
    return new S3eReads(
        Math.round(bytesRead * share),
        Math.round(bytesFromMemory * share),
        Math.round(bytesFromDisk * share),
        Math.round(bytesFromS3 * share),
        Math.round(gets * share),
        Math.round(retries * share),
        Math.round(throttled * share),
        Math.round(readWaits * share),
        Math.round(readWaitNanos * share),
        Math.round(prefetchedBytes * share),
        Math.round(prefetchWastedBytes * share));
  }

  long blockedMillis() {
    return readWaitNanos / 1_000_000;
  }
}
