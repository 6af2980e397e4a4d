// SPDX-License-Identifier: Apache-2.0
package io.s3e.explain;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of a stage, the sum of its tasks. {@link ApplicationReader} fills it, one thread;
 * nobody changes it afterwards.
 */
final class Stage {
  final int id;
  final int attempt;
  String name = "";

  /** Paths of {@code s3a://} in the names of its RDDs: {@code sc.textFile}. */
  final Set<String> rddPaths = new HashSet<>();

  /** Of the SQL metrics that its tasks counted in: those of a scan say whose stage it is. */
  final Set<Long> metrics = new HashSet<>();

  /** Partitions of the RDD that it computes; 0 if the log does not tell. */
  int partitions;

  /** The most partitions of an RDD below that: a scan has more of them before a coalesce. */
  int mostPartitions;

  private int tasks;
  private int tasksWithoutRows;
  private long runMillis;
  private long runMillisWithoutRows;
  private long cpuNanos;
  private long gcMillis;
  private long shuffleWaitMillis;
  private long inputBytes;
  private long longestInputBytes;
  private long firstLaunch = Long.MAX_VALUE;
  private long lastFinish;
  private @Nullable S3eReads s3e;

  Stage(int id, int attempt) {
    this.id = id;
    this.attempt = attempt;
  }

  /** Adds a task that has ended, well or not. */
  void add(JsonNode info, JsonNode metricsOfTask) {
    JsonNode input = metricsOfTask.path("Input Metrics");
    long bytes = input.path("Bytes Read").asLong();
    tasks++;
    long run = metricsOfTask.path("Executor Run Time").asLong();
    runMillis += run;
    if (input.path("Records Read").asLong() == 0) {
      tasksWithoutRows++;
      runMillisWithoutRows += run;
    }
    cpuNanos += metricsOfTask.path("Executor CPU Time").asLong();
    gcMillis += metricsOfTask.path("JVM GC Time").asLong();
    shuffleWaitMillis +=
        metricsOfTask.path("Shuffle Read Metrics").path("Fetch Wait Time").asLong();
    inputBytes += bytes;
    longestInputBytes = Math.max(longestInputBytes, bytes);
    firstLaunch = Math.min(firstLaunch, info.path("Launch Time").asLong());
    lastFinish = Math.max(lastFinish, info.path("Finish Time").asLong());
  }

  void add(S3eReads reads) {
    s3e = s3e == null ? reads : s3e.plus(reads);
  }

  int tasks() {
    return tasks;
  }

  /** Whether it had a task for some of its partitions only: in a LIMIT, or a part done again. */
  boolean isPartial() {
    return tasks < partitions;
  }

  /** The part of its partitions that had a task, 0 to 1. */
  double part() {
    return isPartial() ? (double) tasks / partitions : 1;
  }

  int tasksWithoutRows() {
    return tasksWithoutRows;
  }

  long runMillis() {
    return runMillis;
  }

  /** Of the tasks that read no row. */
  long runMillisWithoutRows() {
    return runMillisWithoutRows;
  }

  long cpuMillis() {
    return cpuNanos / 1_000_000;
  }

  long gcMillis() {
    return gcMillis;
  }

  /** When the first task began; in ms since 1970. */
  long firstLaunch() {
    return firstLaunch;
  }

  /** When the last task ended; in ms since 1970. */
  long lastFinish() {
    return lastFinish;
  }

  /** From the first task's start to the last one's end. */
  long wallMillis() {
    return tasks == 0 ? 0 : Math.max(0, lastFinish - firstLaunch);
  }

  long inputBytes() {
    return inputBytes;
  }

  /** What its tasks were given; Spark's count lacks what S3A reads of ranges at once. */
  long readBytes() {
    return s3e == null ? inputBytes : s3e.bytesRead();
  }

  long longestInputBytes() {
    return longestInputBytes;
  }

  /** Whether S3E's plugin tells of it. */
  boolean isReadByS3e() {
    return s3e != null;
  }

  /** What S3E's plugin tells; zeros where it does not. */
  S3eReads s3e() {
    return s3e == null ? S3eReads.NONE : s3e;
  }

  /**
   * The time in which its tasks neither computed nor collected garbage nor waited for a shuffle:
   * they waited for reads, for HEADs when files were opened, or for a processor.
   */
  long offProcessorMillis() {
    return Math.max(0, runMillis - cpuMillis() - gcMillis - shuffleWaitMillis);
  }

  /**
   * How long its tasks waited for reads: what S3E has measured, without the opening of files, else
   * {@link #offProcessorMillis}, which is more.
   */
  long waitedMillis() {
    return s3e == null ? offProcessorMillis() : Math.min(runMillis, s3e.blockedMillis());
  }

  /** As people write it. */
  String label() {
    return "stage " + id + (attempt == 0 ? "" : "." + attempt);
  }
}
