// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark;

import io.s3e.hadoop.cost.Advice;
import io.s3e.hadoop.cost.Bill;
import io.s3e.hadoop.cost.Prices;
import io.s3e.hadoop.cost.ReadAdvice;
import io.s3e.hadoop.cost.ReadWork;
import io.s3e.hadoop.cost.Sizes;
import io.s3e.spark.conf.SparkKeys;
import io.s3e.spark.stages.ReadCounts;
import io.s3e.spark.stages.SparkListenerS3EStage;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorAdded;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one line of a driver at the end of its application: what was read, where it came from, how
 * long tasks were blocked, what it cost by estimate, and the advice that would save most. It is the
 * sum of the stage events. An application that has read nothing by S3E has none.
 *
 * <p>Any thread: events come from those that post them, executors from Spark's listener bus.
 */
final class EndLine extends SparkListener {
  private static final Logger LOG = LoggerFactory.getLogger("io.s3e.spark.S3EPlugin");

  private final Prices prices;
  private final long budgetBytes;
  private final int cpusOfTask;

  // Guarded by this.
  private ReadCounts reads = ReadCounts.NONE;
  private Bill bill = Bill.NONE;
  private int coresOfExecutor = 1;
  private boolean told;

  /**
   * @param budgetBytes S3E's memory in an executor as it was set; 0 if it was left to its default
   */
  EndLine(SparkConf spark, long budgetBytes) {
    this.prices = SparkKeys.prices(spark);
    this.budgetBytes = budgetBytes;
    this.cpusOfTask = Math.max(1, spark.getInt("spark.task.cpus", 1));
  }

  synchronized void add(SparkListenerS3EStage event) {
    reads = reads.plus(event.reads().total());
    bill = bill.plus(event.bill());
  }

  @Override
  public synchronized void onExecutorAdded(SparkListenerExecutorAdded event) {
    coresOfExecutor = Math.max(coresOfExecutor, event.executorInfo().totalCores());
  }

  /** Logs the line, the first time that it is called. */
  synchronized void tell() {
    if (!told && !reads.equals(ReadCounts.NONE)) {
      LOG.info("{}", text());
    }
    told = true;
  }

  synchronized String text() {
    return String.format(
        Locale.ROOT,
        "S3E read %s: %s from memory, %s from disk, %s from S3 by %s GETs and %s HEADs; %s tasks"
            + " waited %s of %s for it (%s); by estimate %s: requests %s, processors %s, blocked"
            + " slots %s. %s",
        Sizes.bytes(reads.bytesRead()),
        Sizes.bytes(reads.bytesFromMemory()),
        Sizes.bytes(reads.bytesFromDisk()),
        Sizes.bytes(reads.bytesFromS3()),
        Sizes.count(reads.gets()),
        Sizes.count(reads.heads()),
        Sizes.count(reads.tasks()),
        Sizes.seconds(millis(reads.readWaitNanos())),
        Sizes.seconds(millis(reads.taskNanos())),
        Sizes.percent(reads.readWaitNanos(), reads.taskNanos()),
        price(),
        Sizes.dollars(bill.requestsUsd()),
        Sizes.dollars(bill.vcpuUsd()),
        Sizes.dollars(bill.blockedUsd()),
        advice().map(Advice::text).orElse("Nothing in these counts is worth a change."));
  }

  private String price() {
    String whole = Sizes.dollars(bill.totalUsd());
    return reads.bytesRead() == 0
        ? whole
        : whole + ", " + Sizes.dollars(bill.usdPerTerabyte(reads.bytesRead())) + " a TB";
  }

  private Optional<Advice> advice() {
    ReadWork work =
        new ReadWork(
            reads.gets(),
            reads.heads(),
            reads.throttled(),
            reads.bytesFromS3(),
            reads.prefetchWastedBytes(),
            millis(reads.taskNanos()),
            millis(reads.readWaitNanos()));
    int slots = Math.max(1, coresOfExecutor / cpusOfTask);
    return ReadAdvice.first(work, new ReadAdvice.Memory(budgetBytes, slots), prices);
  }

  private static long millis(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(nanos);
  }
}
