// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.open;

import java.io.IOException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.s3a.S3AFileStatus;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.apache.hadoop.fs.s3a.S3AReadOpContext;
import org.apache.hadoop.fs.store.audit.AuditSpan;
import org.jspecify.annotations.Nullable;

/** The protected parts of S3AFileSystem that opening a file needs. */
public interface FileSystemAccess {
  S3AFileSystem fileSystem();

  /**
   * Of a file, by a HEAD, which somebody has counted for the thread that opens.
   *
   * @throws java.io.FileNotFoundException if there is none, or a directory
   */
  S3AFileStatus status(Path path) throws IOException;

  /** Counts the opening of a file, and begins its audit span. */
  AuditSpan openSpan(Path path) throws IOException;

  S3AReadOpContext readContext(FileStatus status, AuditSpan span);

  FileSystem.@Nullable Statistics fileSystemStatistics();
}
