// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import java.io.IOException;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FutureDataInputStreamBuilder;
import org.apache.hadoop.fs.Options.OpenFileOptions;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.functional.FutureIO;

/** How a reader of Parquet opens a file of which it has a status. */
enum Opening {
  /**
   * By its name alone, as parquet-java before 1.14 does, and so Spark 3.5: the file system has to
   * find out again what the status says.
   */
  NAME,
  /** With the status and the read policy, as parquet-java does since 1.14. */
  STATUS,
  /** The same and, as no reader does so far, the split: all of the file. */
  SPLIT;

  /** parquet-java's own, which it keeps to itself. */
  private static final String POLICY = "parquet, vector, random, adaptive";

  FSDataInputStream open(FileSystem fileSystem, FileStatus status) throws IOException {
    Path path = status.getPath();
    return switch (this) {
      case NAME -> fileSystem.open(path);
      case STATUS -> FutureIO.awaitFuture(withStatus(fileSystem, status).build());
      case SPLIT ->
          FutureIO.awaitFuture(
              withStatus(fileSystem, status)
                  .optLong(OpenFileOptions.FS_OPTION_OPENFILE_SPLIT_START, 0)
                  .optLong(OpenFileOptions.FS_OPTION_OPENFILE_SPLIT_END, status.getLen())
                  .build());
    };
  }

  private static FutureDataInputStreamBuilder withStatus(FileSystem fileSystem, FileStatus status)
      throws IOException {
    return fileSystem
        .openFile(status.getPath())
        .withFileStatus(status)
        .opt(OpenFileOptions.FS_OPTION_OPENFILE_READ_POLICY, POLICY);
  }
}
