// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.sql;

import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.plans.physical.Partitioning;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.jspecify.annotations.Nullable;
import scala.collection.immutable.List;

/**
 * A scan of files as it is; its tasks say which files they will open. Its canonical form is that of
 * the scan, so that exchanges and subqueries with and without it are one.
 */
public final class NextFilesExec extends OneChild {
  private final SparkPlan scan;

  /** Public because Spark copies nodes by their constructor. */
  public NextFilesExec(SparkPlan scan) {
    this.scan = scan;
  }

  @Override
  SparkPlan child() {
    return scan;
  }

  @Override
  SparkPlan over(SparkPlan child) {
    return new NextFilesExec(child);
  }

  @Override
  public List<Attribute> output() {
    return scan.output().toList();
  }

  @Override
  public Partitioning outputPartitioning() {
    return scan.outputPartitioning();
  }

  @Override
  public List<SortOrder> outputOrdering() {
    return scan.outputOrdering().toList();
  }

  @Override
  public boolean supportsColumnar() {
    return scan.supportsColumnar();
  }

  @Override
  public boolean supportsRowBased() {
    return scan.supportsRowBased();
  }

  @Override
  public RDD<InternalRow> doExecute() {
    return new NextFilesRDD<>(scan.execute(), InternalRow.class);
  }

  @Override
  public RDD<ColumnarBatch> doExecuteColumnar() {
    return new NextFilesRDD<>(scan.executeColumnar(), ColumnarBatch.class);
  }

  @Override
  public SparkPlan doCanonicalize() {
    return (SparkPlan) scan.canonicalized();
  }

  @Override
  public int productArity() {
    return 1;
  }

  @Override
  public Object productElement(int n) {
    if (n != 0) {
      throw new IndexOutOfBoundsException(n);
    }
    return scan;
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof NextFilesExec;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof NextFilesExec that && scan.equals(that.scan);
  }

  @Override
  public int hashCode() {
    return 31 * scan.hashCode() + 1;
  }
}
