// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark;

import io.s3e.hadoop.S3EFileSystem;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.spark.SparkConf;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Buckets that Spark has opened for jars, files and archives of the application before the plugin
 * could set {@code fs.s3a.impl}. Hadoop keeps one file system for a bucket, so S3A's own goes on to
 * read them in this JVM.
 */
final class EarlyBuckets {
  private static final Logger LOG = LoggerFactory.getLogger(EarlyBuckets.class);

  /** What is named here Spark has looked at by now: to ask for its file system opens none. */
  private static final List<String> KEYS =
      List.of(
          "spark.jars",
          "spark.files",
          "spark.archives",
          "spark.app.initial.jar.urls",
          "spark.app.initial.file.urls",
          "spark.app.initial.archive.urls");

  private EarlyBuckets() {}

  /** Those that another file system than S3E's reads, though S3E is not switched off for them. */
  static List<String> notReadByS3E(SparkConf spark, Configuration hadoop) {
    if (hadoop.getBoolean("fs.s3a.impl.disable.cache", false)) {
      // Each is opened anew.
      return List.of();
    }
    return KEYS.stream()
        .flatMap(key -> Stream.of(spark.get(key, "").split(",")))
        .map(EarlyBuckets::bucket)
        .filter(Objects::nonNull)
        .distinct()
        .sorted()
        .filter(bucket -> isReadByAnother(bucket, hadoop))
        .toList();
  }

  /** Null if it is none of S3A's. */
  private static @Nullable String bucket(String location) {
    String scheme = "s3a://";
    String text = location.trim();
    return text.startsWith(scheme) ? text.substring(scheme.length()).split("/", 2)[0] : null;
  }

  /** No failure of this look is the application's. */
  @SuppressWarnings("IllegalCatch")
  private static boolean isReadByAnother(String bucket, Configuration hadoop) {
    try {
      boolean isWanted =
          hadoop.getBoolean(
              "fs.s3a.bucket." + bucket + ".s3e.enabled",
              hadoop.getBoolean("fs.s3a.s3e.enabled", true));
      return isWanted
          && !(FileSystem.get(URI.create("s3a://" + bucket), hadoop) instanceof S3EFileSystem);
    } catch (IOException | RuntimeException | LinkageError e) {
      LOG.debug("It is not known who reads {}", bucket, e);
      return false;
    }
  }

  /** One line of the log, where there are any. */
  static void tell(SparkConf spark, Configuration hadoop) {
    List<String> buckets = notReadByS3E(spark, hadoop);
    if (!buckets.isEmpty()) {
      LOG.warn(
          "S3E does not read {} in this JVM, but S3A's own streams: Spark has opened it for"
              + " spark.jars, spark.files or spark.archives before the plugin ran. Set"
              + " spark.hadoop.fs.s3a.impl = \"{}\" from the start, with S3E's jars on the class"
              + " path ($SPARK_HOME/jars)",
          String.join(", ", buckets.stream().map(bucket -> "s3a://" + bucket).toList()),
          S3EFileSystem.class.getName());
    }
  }
}
