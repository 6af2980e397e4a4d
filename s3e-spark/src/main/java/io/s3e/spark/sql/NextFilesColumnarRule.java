// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.sql;

import org.apache.hadoop.fs.FileSystem;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.ColumnarRule;
import org.apache.spark.sql.execution.SparkPlan;

/**
 * {@link NextFilesRule}, after the rules of other extensions: scans that they have replaced are
 * theirs.
 */
final class NextFilesColumnarRule extends ColumnarRule {
  private final Class<? extends FileSystem> asking;

  /**
   * @param asking the file systems that ask for the next file
   */
  NextFilesColumnarRule(Class<? extends FileSystem> asking) {
    this.asking = asking;
  }

  @Override
  public Rule<SparkPlan> postColumnarTransitions() {
    return new NextFilesRule(asking);
  }
}
