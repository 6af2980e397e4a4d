// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.conf;

import java.util.stream.Stream;
import org.apache.spark.SparkConf;

/**
 * Hive's client of the metastore. Where it has jars of its own ({@code
 * spark.sql.hive.metastore.jars} is not {@code builtin}) Spark loads it by a class loader that has
 * none of Spark's jars, and shares only classes whose names begin as one of a list says: without
 * S3E's it would not find the file system that {@code fs.s3a.impl} names.
 */
final class HiveClients {
  private static final String SHARED = "spark.sql.hive.metastore.sharedPrefixes";
  private static final String OF_S3E = "io.s3e.";

  /** Spark's own (HiveUtils.jdbcPrefixes), which the key replaces where it is set. */
  private static final String BY_DEFAULT =
      "com.mysql.jdbc,com.mysql.cj,org.postgresql,com.microsoft.sqlserver,oracle.jdbc";

  private HiveClients() {}

  /** Has the clients of sessions that will be made with these settings find S3E's classes. */
  static void shareWith(SparkConf spark) {
    String shared = spark.get(SHARED, BY_DEFAULT);
    boolean isShared =
        Stream.of(shared.split(","))
            .map(String::trim)
            .anyMatch(prefix -> !prefix.isEmpty() && OF_S3E.startsWith(prefix));
    if (!isShared) {
      spark.set(SHARED, shared.isBlank() ? OF_S3E : shared + "," + OF_S3E);
    }
  }
}
