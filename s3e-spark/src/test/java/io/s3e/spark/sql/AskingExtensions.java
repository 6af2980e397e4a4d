// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.sql;

import org.apache.spark.sql.SparkSessionExtensions;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;

/** {@link S3EExtensions} for {@link AskingFileSystem}. */
public final class AskingExtensions extends AbstractFunction1<SparkSessionExtensions, BoxedUnit> {
  @Override
  public BoxedUnit apply(SparkSessionExtensions extensions) {
    extensions.injectColumnar(session -> NextFilesRule.afterOthers(AskingFileSystem.class));
    return BoxedUnit.UNIT;
  }
}
