// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.cost;

/**
 * What some tasks did to read: the counts that {@link ReadAdvice} rests on.
 *
 * @param gets that went out to the store
 * @param heads HEADs; where nobody has counted them, files that were opened
 * @param throttled GETs that the store refused
 * @param bytesFromS3 received, for reads and for prefetch
 * @param prefetchWastedBytes prefetched, and read by nobody
 * @param runMillis how long the tasks ran
 * @param waitedMillis how long they waited for reads
 */
public record ReadWork(
    long gets,
    long heads,
    long throttled,
    long bytesFromS3,
    long prefetchWastedBytes,
    long runMillis,
    long waitedMillis) {}
