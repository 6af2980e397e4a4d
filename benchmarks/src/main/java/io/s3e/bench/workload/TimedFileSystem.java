// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.FutureDataInputStreamBuilder;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.impl.OpenFileParameters;
import org.apache.hadoop.util.functional.FutureIO;

/**
 * The file system of a run with the calls timed that look for files, open them and read them. Does
 * not own it: nobody closes this one.
 */
final class TimedFileSystem extends FilterFileSystem {

  private final ReadClock clock;

  TimedFileSystem(FileSystem inside, ReadClock clock) {
    super(inside);
    this.clock = clock;
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    return clock.timed(() -> super.getFileStatus(path));
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    return TimedInputStream.over(clock.timed(() -> super.open(path, bufferSize)), clock);
  }

  /** Through {@link #openFileWithOptions}; the class above would ask the file system inside. */
  @Override
  public FutureDataInputStreamBuilder openFile(Path path) {
    return createDataInputStreamBuilder(this, path);
  }

  /** Waits for the stream, as the formats' readers do at once. */
  @Override
  protected CompletableFuture<FSDataInputStream> openFileWithOptions(
      Path path, OpenFileParameters parameters) throws IOException {
    FSDataInputStream opened =
        clock.timed(() -> FutureIO.awaitFuture(super.openFileWithOptions(path, parameters)));
    return CompletableFuture.completedFuture(TimedInputStream.over(opened, clock));
  }
}
