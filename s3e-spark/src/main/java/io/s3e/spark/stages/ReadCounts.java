// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.stages;

import io.s3e.hadoop.cost.Bill;
import io.s3e.hadoop.cost.Prices;
import java.io.Serializable;

/**
 * What reads did: of a task, or the sum over some. Bytes and times carry their unit in the name.
 *
 * <p>The components are fields of {@link SparkListenerS3EStage} in event logs, so their names stay.
 * A field that an older log lacks is 0; one that a newer log has beside them is ignored.
 *
 * @param tasks how many tasks are added up here, those that failed among them
 * @param taskNanos how long they ran
 * @param bytesRead given to the tasks, each byte once
 * @param bytesFromMemory the part of those bytes that neither S3 nor the disk was asked for by the
 *     task: a block was in memory because of another task, or of an earlier read
 * @param bytesFromDisk taken from the cache on local disk by reads
 * @param bytesFromS3 received from S3, for reads and for prefetch
 * @param gets that went out to the store, retries included
 * @param prefetchGets those of them that nobody waited for when they were sent
 * @param retries GETs sent again after a failure
 * @param throttled GETs that the store answered with 503, 429 or another word for slow down
 * @param hedges GETs sent beside one that was late for its reader
 * @param memoryHits blocks found in memory when a reader came to them, prefetched ones among them
 * @param diskHits reads that the cache on local disk answered
 * @param readWaits times that a task waited for a block
 * @param readWaitNanos how long they waited in all
 * @param prefetchedBytes brought before they were asked for
 * @param prefetchWastedBytes the part of those that nobody has read: they have left memory, or are
 *     there still; less than 0 in a report of blocks that were read since the one before
 * @param heads HEADs sent to find files and to open them
 * @param taskCpuNanos processor time of the threads that ran the tasks
 */
public record ReadCounts(
    long tasks,
    long taskNanos,
    long bytesRead,
    long bytesFromMemory,
    long bytesFromDisk,
    long bytesFromS3,
    long gets,
    long prefetchGets,
    long retries,
    long throttled,
    long hedges,
    long memoryHits,
    long diskHits,
    long readWaits,
    long readWaitNanos,
    long prefetchedBytes,
    long prefetchWastedBytes,
    long heads,
    long taskCpuNanos)
    implements Serializable {
  private static final long serialVersionUID = 1;

  public static final ReadCounts NONE =
      new ReadCounts(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

  /** One task that has read nothing. */
  static ReadCounts ofTask(long nanos, long cpuNanos) {
    return new ReadCounts(1, nanos, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, cpuNanos);
  }

  /**
   * Whether nothing was read: tasks, their time, and the HEADs of those that write say nothing of
   * S3E.
   */
  boolean isWithoutReads() {
    return equals(
        new ReadCounts(
            tasks, taskNanos, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, heads, taskCpuNanos));
  }

  /**
   * The same with the bytes from memory, which follow from the others of one task, scan or stream
   * outside of tasks: streams of a task read what others of it have fetched. What was prefetched
   * and not read has taken nothing's place.
   */
  ReadCounts withBytesFromMemory() {
    long askedFor = bytesFromDisk + Math.max(0, bytesFromS3 - prefetchWastedBytes);
    return withBytesFromMemory(Math.max(0, bytesRead - askedFor));
  }

  /** The same but for the bytes from memory. */
  ReadCounts withBytesFromMemory(long bytes) {
    return new ReadCounts(
        tasks,
        taskNanos,
        bytesRead,
        bytes,
        bytesFromDisk,
        bytesFromS3,
        gets,
        prefetchGets,
        retries,
        throttled,
        hedges,
        memoryHits,
        diskHits,
        readWaits,
        readWaitNanos,
        prefetchedBytes,
        prefetchWastedBytes,
        heads,
        taskCpuNanos);
  }

  /** GETs and HEADs. */
  public long requests() {
    return gets + heads;
  }

  /** What it cost by estimate: requests, what the tasks computed, slots that waited for reads. */
  public Bill bill(Prices prices) {
    return prices.bill(requests(), taskCpuNanos, readWaitNanos);
  }

  /** The sum of both. */
  public ReadCounts plus(ReadCounts other) {
    return new ReadCounts(
        tasks + other.tasks,
        taskNanos + other.taskNanos,
        bytesRead + other.bytesRead,
        bytesFromMemory + other.bytesFromMemory,
        bytesFromDisk + other.bytesFromDisk,
        bytesFromS3 + other.bytesFromS3,
        gets + other.gets,
        prefetchGets + other.prefetchGets,
        retries + other.retries,
        throttled + other.throttled,
        hedges + other.hedges,
        memoryHits + other.memoryHits,
        diskHits + other.diskHits,
        readWaits + other.readWaits,
        readWaitNanos + other.readWaitNanos,
        prefetchedBytes + other.prefetchedBytes,
        prefetchWastedBytes + other.prefetchWastedBytes,
        heads + other.heads,
        taskCpuNanos + other.taskCpuNanos);
  }
}
