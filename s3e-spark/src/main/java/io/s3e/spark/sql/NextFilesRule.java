// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.sql;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.execution.ColumnarRule;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec;
import org.apache.spark.sql.execution.datasources.v2.FileScan;
import org.jspecify.annotations.Nullable;
import scala.Function1;
import scala.collection.Iterator;
import scala.runtime.AbstractPartialFunction;

/**
 * Puts a {@link NextFilesExec} over scans of files in file systems that ask for them: Spark's own,
 * and those of V2 tables that tell where they lie.
 */
final class NextFilesRule extends Rule<SparkPlan> {
  private static final class Over extends AbstractPartialFunction<SparkPlan, SparkPlan> {
    private final Class<? extends FileSystem> asking;

    Over(Class<? extends FileSystem> asking) {
      this.asking = asking;
    }

    @Override
    public boolean isDefinedAt(SparkPlan plan) {
      return isTwice(plan)
          || (plan instanceof FileSourceScanExec scan && isOnAsking(scan))
          || (plan instanceof BatchScanExec batch && isOnAsking(batch));
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
      return isOnAsking(
          scan.relation().location(),
          scan.relation().sparkSession().sparkContext().hadoopConfiguration());
    }

    /** Of Spark's own files, and of tables that tell where they lie, as Iceberg's do. */
    private boolean isOnAsking(BatchScanExec batch) {
      if (batch.session() == null) {
        return false;
      }
      Configuration conf = batch.session().sparkContext().hadoopConfiguration();
      if (batch.scan() instanceof FileScan scan) {
        return isOnAsking(scan.fileIndex(), conf);
      }
      return isAsking(scheme(batch.table()), conf);
    }

    /** Null of what is no path, and of a source that fails to tell: nobody else may have asked. */
    private static @Nullable String scheme(@Nullable Table table) {
      try {
        String location = table == null ? null : table.properties().get("location");
        return location == null ? null : new Path(location).toUri().getScheme();
      } catch (RuntimeException | LinkageError e) {
        return null;
      }
    }

    private boolean isOnAsking(FileIndex files, Configuration conf) {
      Iterator<Path> roots = files.rootPaths().iterator();
      while (roots.hasNext()) {
        if (isAsking(roots.next().toUri().getScheme(), conf)) {
          return true;
        }
      }
      return false;
    }

    private boolean isAsking(@Nullable String scheme, Configuration conf) {
      try {
        return scheme != null
            && asking.isAssignableFrom(FileSystem.getFileSystemClass(scheme, conf));
      } catch (IOException | RuntimeException | LinkageError unknown) {
        // A class that is not there fails who reads by it, which may be nobody.
        return false;
      }
    }
  }

  private final Class<? extends FileSystem> asking;

  private NextFilesRule(Class<? extends FileSystem> asking) {
    this.asking = asking;
  }

  /**
   * The rule, for sessions to run after those of other extensions: scans that they have replaced
   * are theirs.
   *
   * @param asking the file systems that ask for the next file
   */
  static ColumnarRule afterOthers(Class<? extends FileSystem> asking) {
    return new ColumnarRule() {
      @Override
      public Rule<SparkPlan> postColumnarTransitions() {
        return new NextFilesRule(asking);
      }
    };
  }

  @Override
  public SparkPlan apply(SparkPlan plan) {
    return plan.transformUp(new Over(asking));
  }
}
