// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.sql;

import org.apache.spark.Partition;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.execution.datasources.FilePartition;
import org.jspecify.annotations.Nullable;
import scala.collection.Iterator;
import scala.reflect.ClassTag$;

/**
 * The rows or batches of a scan as they are. Before a task begins with them, it says which files it
 * will open; at its end it adds what was read to the metrics of the scan.
 */
final class NextFilesRDD<T> extends RDD<T> {
  private static final long serialVersionUID = 1;

  private final boolean announces;
  private final @Nullable ScanMetrics metrics;

  /**
   * @param announces whether a task says which files it will open, where its partition is a {@link
   *     FilePartition}
   * @param metrics of the scan; null to count nothing
   */
  NextFilesRDD(RDD<T> scan, Class<T> type, boolean announces, @Nullable ScanMetrics metrics) {
    super(scan, ClassTag$.MODULE$.apply(type));
    this.announces = announces;
    this.metrics = metrics;
  }

  @Override
  public Partition[] getPartitions() {
    return scan().partitions();
  }

  @Override
  public Iterator<T> compute(Partition split, TaskContext task) {
    if (announces && split instanceof FilePartition partition) {
      TaskFiles.expect(task, partition.files());
    }
    return metrics == null
        ? scan().iterator(split, task)
        : metrics.over(task, () -> scan().iterator(split, task));
  }

  private RDD<T> scan() {
    return firstParent(elementClassTag());
  }
}
