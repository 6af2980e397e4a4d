// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.formats;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * A library that writes and reads columnar files. Implementations are compiled against each version
 * of theirs and loaded with it ({@link Library}).
 */
public interface FormatReads {
  /** Writes the {@link Rows} as a file of about nine row groups or stripes to the local disk. */
  void write(java.nio.file.Path file, Codec codec) throws Exception;

  /**
   * Reads a file as its library does by default.
   *
   * @param file on any file system
   * @return a digest of what was read
   */
  String read(Reading how, Path file, Configuration conf) throws Exception;
}
