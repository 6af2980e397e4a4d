// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.itests;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.apache.hadoop.util.ReflectionUtils;

/**
 * Makes the file system that the configuration names, where a test of Hadoop's says {@code new}.
 */
public final class FileSystemUnderTest {
  private FileSystemUnderTest() {}

  /** A file system, not yet initialized, of the class in {@code fs.s3a.impl}. */
  public static S3AFileSystem create() {
    Configuration conf = new Configuration();
    return ReflectionUtils.newInstance(
        conf.getClass("fs.s3a.impl", S3AFileSystem.class, S3AFileSystem.class), conf);
  }
}
