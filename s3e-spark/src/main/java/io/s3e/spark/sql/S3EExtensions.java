// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.sql;

import io.s3e.hadoop.S3EFileSystem;
import org.apache.spark.SparkConf;
import org.apache.spark.sql.SparkSessionExtensions;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;

/**
 * S3E's part in Spark SQL: {@code spark.sql.extensions=io.s3e.spark.sql.S3EExtensions}, which the
 * plugin sets.
 */
public final class S3EExtensions extends AbstractFunction1<SparkSessionExtensions, BoxedUnit> {
  private static final String EXTENSIONS = "spark.sql.extensions";

  /**
   * Adds this class to the extensions of the sessions that will be made with these settings, before
   * the others: of their rules for what follows the planning Spark runs the last one first, and
   * those that replace scans are to see Spark's own.
   */
  public static void addTo(SparkConf conf) {
    String own = S3EExtensions.class.getName();
    String named = conf.get(EXTENSIONS, "");
    if (!isIn(named, own)) {
      conf.set(EXTENSIONS, named.isBlank() ? own : own + "," + named);
    }
  }

  private static boolean isIn(String list, String name) {
    for (String each : list.split(",", -1)) {
      if (each.trim().equals(name)) {
        return true;
      }
    }
    return false;
  }

  @Override
  public BoxedUnit apply(SparkSessionExtensions extensions) {
    extensions.injectColumnar(session -> NextFilesRule.afterOthers(S3EFileSystem.class));
    return BoxedUnit.UNIT;
  }
}
