// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark;

import io.s3e.hadoop.setup.Requirements;

/**
 * S3E cannot read in this process, and says why and what to do. Spark makes no application, and no
 * executor, of which a plugin throws at its beginning: the words are the last that its user sees,
 * without a stack trace behind them, since no line of any program is at fault.
 */
final class UnfitClassPathException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private static final String WITHOUT_S3E =
      ". To go on without S3E leave out spark.plugins=io.s3e.spark.S3EPlugin and its artifact";

  private UnfitClassPathException(String message) {
    super(message, null, false, false);
  }

  /**
   * Looks at the libraries. Nothing that refers to them may be loaded before.
   *
   * @throws UnfitClassPathException if one lacks or does not fit
   */
  static void check() {
    Requirements found = Requirements.found();
    String problem = found.problem();
    if (problem != null) {
      throw new UnfitClassPathException(problem + remedy(found) + WITHOUT_S3E);
    }
  }

  /** The artifact brings a hadoop-aws, which reads by no other Hadoop: not by S3A alone either. */
  private static String remedy(Requirements found) {
    return found.isHadoopTooOld() || found.isHadoop33()
        ? ". To read by S3E on Spark 3.5 as it is shipped, with Hadoop 3.3.4, take the artifact"
            + " s3e-spark-3.5_2.12 with all that it brings (--packages); s3e-spark-3.5_2.13 is for"
            + " a Spark whose Hadoop has been replaced by 3.4.2 (docs/INSTALL.md, Spark 3.5)"
        : ". To read by S3E take the artifact that is named by this Spark's line"
            + " (s3e-spark-4.1_2.13 for 4.1), with all that it brings: --packages";
  }
}
