// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.spark.job;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.impl.OpenFileParameters;
import org.apache.hadoop.fs.s3a.S3AFileSystem;

/** S3A's file system with the opens and reads of tasks counted by {@link ReadClock}. */
public final class TimedS3AFileSystem extends S3AFileSystem {

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    return TimedInputStream.over(ReadClock.open(() -> super.open(path, bufferSize)));
  }

  @Override
  public CompletableFuture<FSDataInputStream> openFileWithOptions(
      Path path, OpenFileParameters parameters) throws IOException {
    return ReadClock.timedOpen(
        ReadClock.open(() -> super.openFileWithOptions(path, parameters))
            .thenApply(TimedInputStream::over));
  }
}
