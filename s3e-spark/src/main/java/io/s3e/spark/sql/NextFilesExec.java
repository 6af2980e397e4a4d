// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.sql;

import io.s3e.spark.conf.SparkKeys;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.plans.physical.Partitioning;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.jspecify.annotations.Nullable;
import scala.collection.immutable.List;
import scala.collection.immutable.Map;
import scala.collection.immutable.Map$;

/**
 * A scan of files as it is; its tasks say which files they will open, and what S3E did for them.
 * Its canonical form is that of the scan, so that exchanges and subqueries with and without it are
 * one.
 */
public final class NextFilesExec extends OneChild {
  private final SparkPlan scan;

  /** Made when they are first asked for, in the driver. */
  private transient @Nullable ScanMetrics metrics;

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

  /** In the SQL tab. */
  @Override
  public String nodeName() {
    return "S3EReads";
  }

  @Override
  public Map<String, SQLMetric> metrics() {
    ScanMetrics shown = shown();
    return shown == null ? Map$.MODULE$.empty() : shown.asMap();
  }

  private synchronized @Nullable ScanMetrics shown() {
    if (metrics == null && SparkKeys.SQL_METRICS.get(sparkContext().conf())) {
      metrics = ScanMetrics.create(sparkContext());
    }
    return metrics;
  }

  @Override
  public RDD<InternalRow> doExecute() {
    return over(scan.execute(), InternalRow.class);
  }

  @Override
  public RDD<ColumnarBatch> doExecuteColumnar() {
    return over(scan.executeColumnar(), ColumnarBatch.class);
  }

  private <T> RDD<T> over(RDD<T> rows, Class<T> type) {
    boolean announces = SparkKeys.ANNOUNCE.get(sparkContext().conf());
    return new NextFilesRDD<>(rows, type, announces, shown());
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
