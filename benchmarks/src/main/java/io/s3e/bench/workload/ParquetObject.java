// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import java.io.IOException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.parquet.hadoop.util.HadoopStreams;
import org.apache.parquet.io.InputFile;
import org.apache.parquet.io.SeekableInputStream;

/**
 * A Parquet file for parquet-java's readers. parquet-java has such a class itself, which finds its
 * file system by the path and opens files in one way only.
 *
 * @param fileSystem that reads it
 * @param status what is known of it
 * @param opening how it is opened
 */
record ParquetObject(FileSystem fileSystem, FileStatus status, Opening opening)
    implements InputFile {

  @Override
  public long getLength() {
    return status.getLen();
  }

  @Override
  public SeekableInputStream newStream() throws IOException {
    return HadoopStreams.wrap(opening.open(fileSystem, status));
  }
}
