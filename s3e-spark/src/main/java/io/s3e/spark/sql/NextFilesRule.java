// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.sql;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.SparkPlan;
import scala.Function1;
import scala.collection.Iterator;
import scala.runtime.AbstractPartialFunction;

/** Puts a {@link NextFilesExec} over Spark's scans of files in file systems that ask for them. */
final class NextFilesRule extends Rule<SparkPlan> {
  private static final class Over extends AbstractPartialFunction<SparkPlan, SparkPlan> {
    private final Class<? extends FileSystem> asking;

    Over(Class<? extends FileSystem> asking) {
      this.asking = asking;
    }

    @Override
    public boolean isDefinedAt(SparkPlan plan) {
      return isTwice(plan) || (plan instanceof FileSourceScanExec scan && isOnAsking(scan));
    }

    @Override
    @SuppressWarnings("unchecked")
    public <A extends SparkPlan, B> B applyOrElse(A plan, Function1<A, B> otherwise) {
      if (!isDefinedAt(plan)) {
        return otherwise.apply(plan);
      }
      return (B) (plan instanceof NextFilesExec above ? above.child() : new NextFilesExec(plan));
    }

    /** Where a plan meets the rule again: the scan below has just got one more. */
    private static boolean isTwice(SparkPlan plan) {
      return plan instanceof NextFilesExec above && above.child() instanceof NextFilesExec;
    }

    private boolean isOnAsking(FileSourceScanExec scan) {
      Configuration conf = scan.relation().sparkSession().sparkContext().hadoopConfiguration();
      Iterator<Path> roots = scan.relation().location().rootPaths().iterator();
      while (roots.hasNext()) {
        if (isAsking(roots.next().toUri().getScheme(), conf)) {
          return true;
        }
      }
      return false;
    }

    private boolean isAsking(String scheme, Configuration conf) {
      try {
        return scheme != null
            && asking.isAssignableFrom(FileSystem.getFileSystemClass(scheme, conf));
      } catch (IOException unknown) {
        return false;
      }
    }
  }

  private final Class<? extends FileSystem> asking;

  NextFilesRule(Class<? extends FileSystem> asking) {
    this.asking = asking;
  }

  @Override
  public SparkPlan apply(SparkPlan plan) {
    return plan.transformUp(new Over(asking));
  }
}
