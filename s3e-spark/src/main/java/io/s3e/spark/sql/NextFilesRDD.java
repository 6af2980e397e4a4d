// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.sql;

import org.apache.spark.Partition;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.execution.datasources.FilePartition;
import scala.collection.Iterator;
import scala.reflect.ClassTag$;

/**
 * The rows or batches of a scan as they are. Before a task begins with them, it says which files it
 * will open.
 */
final class NextFilesRDD<T> extends RDD<T> {
  /**
   * @param scan whose partitions are {@link FilePartition}s
   */
  NextFilesRDD(RDD<T> scan, Class<T> type) {
    super(scan, ClassTag$.MODULE$.apply(type));
  }

  @Override
  public Partition[] getPartitions() {
    return scan().partitions();
  }

  @Override
  public Iterator<T> compute(Partition split, TaskContext task) {
    if (split instanceof FilePartition partition) {
      TaskFiles.expect(task, partition.files());
    }
    return scan().iterator(split, task);
  }

  private RDD<T> scan() {
    return firstParent(elementClassTag());
  }
}
