// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.doctor;

import io.s3e.hadoop.S3EAbstractFileSystem;
import io.s3e.hadoop.S3EFileSystem;
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
  Configuration appliedTo(Configuration conf) {
    Configuration applied = new Configuration(conf);
    if (this == SPARK_PLUGIN) {
      applied.set(IMPL, S3EFileSystem.class.getName());
      applied.set(ABSTRACT_IMPL, S3EAbstractFileSystem.class.getName());
    }
    return applied;
  }
}
