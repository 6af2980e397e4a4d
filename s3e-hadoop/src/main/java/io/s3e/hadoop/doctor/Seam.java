// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.doctor;

import io.s3e.hadoop.S3EAbstractFileSystem;
import io.s3e.hadoop.S3EFileSystem;
import io.s3e.hadoop.conf.S3EKeys;
import io.s3e.hadoop.conf.UnknownKeys;
import org.apache.hadoop.conf.Configuration;

/** How a configuration has S3E behind {@code s3a://}. */
enum Seam {
  FILE_SYSTEM,
  /** S3E's plugin sets the keys when Spark starts. */
  SPARK_PLUGIN,
  /** S3A's file system with streams of {@code S3EStreamFactory}. */
  STREAM_FACTORY,
  NONE;

  static final String IMPL = "fs.s3a.impl";
  static final String ABSTRACT_IMPL = "fs.AbstractFileSystem.s3a.impl";

  /** The configuration that file systems are made with. */
  Configuration appliedTo(Settings settings) {
    Configuration applied = new Configuration(settings.hadoop());
    if (this == SPARK_PLUGIN) {
      // As the plugin has it: Hadoop's names win.
      for (String name : UnknownKeys.KNOWN) {
        String value = settings.spark("spark.s3e." + name);
        if (!value.isEmpty() && settings.spark("spark.hadoop." + S3EKeys.PREFIX + name).isEmpty()) {
          applied.set(S3EKeys.PREFIX + name, value, "spark.s3e." + name);
        }
      }
      applied.set(IMPL, S3EFileSystem.class.getName());
      applied.set(ABSTRACT_IMPL, S3EAbstractFileSystem.class.getName());
    }
    return applied;
  }
}
