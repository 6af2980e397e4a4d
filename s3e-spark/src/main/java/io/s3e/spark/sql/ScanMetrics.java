// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.sql;

import io.s3e.hadoop.cost.Prices;
import io.s3e.spark.conf.SparkKeys;
import io.s3e.spark.stages.ReadCounts;
import io.s3e.spark.stages.ScanAccount;
import io.s3e.spark.stages.TaskScans;
import java.io.Serializable;
import java.util.function.Supplier;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.sql.execution.metric.SQLMetrics;
import org.apache.spark.util.TaskCompletionListener;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.collection.immutable.Map;
import scala.collection.immutable.Map$;
import scala.collection.mutable.Builder;

/**
 * What S3E did for one scan, as metrics of its node in the SQL tab. They are made in the driver,
 * and tasks add to them at their end; what comes of their streams later is in the stage events
 * alone.
 */
record ScanMetrics(
    SQLMetric read,
    SQLMetric fromMemory,
    SQLMetric fromDisk,
    SQLMetric fromS3,
    SQLMetric gets,
    SQLMetric blocked,
    SQLMetric wasted,
    SQLMetric price,
    Prices prices)
    implements Serializable {
  private static final long serialVersionUID = 1;

  /** New ones, of a new node. */
  static ScanMetrics create(SparkContext spark) {
    return new ScanMetrics(
        bytes(spark, "bytes read by S3E"),
        bytes(spark, "bytes from memory"),
        bytes(spark, "bytes from local disk"),
        bytes(spark, "bytes from S3"),
        SQLMetrics.createMetric(spark, "GETs"),
        SQLMetrics.createNanoTimingMetric(spark, "time blocked in reads", NOTHING_YET),
        bytes(spark, "bytes prefetched and not read"),
        SQLMetrics.createV2CustomMetric(spark, new ScanPrice()),
        SparkKeys.prices(spark.conf()));
  }

  /** As Spark's own of this kind begin: a task that adds nothing is in no minimum. */
  private static final long NOTHING_YET = -1;

  private static SQLMetric bytes(SparkContext spark, String name) {
    return SQLMetrics.createSizeMetric(spark, name, NOTHING_YET);
  }

  /** By key, as a plan has them. */
  Map<String, SQLMetric> asMap() {
    Builder<Tuple2<String, SQLMetric>, Map<String, SQLMetric>> byKey = Map$.MODULE$.newBuilder();
    byKey.$plus$eq(new Tuple2<>("s3eBytesRead", read));
    byKey.$plus$eq(new Tuple2<>("s3eBytesFromMemory", fromMemory));
    byKey.$plus$eq(new Tuple2<>("s3eBytesFromDisk", fromDisk));
    byKey.$plus$eq(new Tuple2<>("s3eBytesFromS3", fromS3));
    byKey.$plus$eq(new Tuple2<>("s3eGets", gets));
    byKey.$plus$eq(new Tuple2<>("s3eBlockedNanos", blocked));
    byKey.$plus$eq(new Tuple2<>("s3eWastedBytes", wasted));
    byKey.$plus$eq(new Tuple2<>("s3ePrice", price));
    return byKey.result();
  }

  /** The rows of a scan in a task, whose reads are added when the task ends. */
  <T> Iterator<T> over(TaskContext task, Supplier<Iterator<T>> scan) {
    TaskScans scans = TaskScans.of(task);
    ScanAccount account = scans.begin();
    // Before the scan's own, so that its streams are closed when this one is called.
    TaskCompletionListener end = ended -> add(account.sum());
    task.addTaskCompletionListener(end);
    return new ScanIterator<>(scan.get(), scans, account);
  }

  private void add(ReadCounts reads) {
    add(read, reads.bytesRead());
    add(fromMemory, reads.bytesFromMemory());
    add(fromDisk, reads.bytesFromDisk());
    add(fromS3, reads.bytesFromS3());
    add(gets, reads.gets());
    add(blocked, reads.readWaitNanos());
    add(wasted, reads.prefetchWastedBytes());
    add(price, ScanPrice.of(reads, prices));
  }

  /** A metric to which nothing is added is not in the event of the task's end. */
  private static void add(SQLMetric metric, long amount) {
    if (amount > 0) {
      metric.add(amount);
    }
  }
}
