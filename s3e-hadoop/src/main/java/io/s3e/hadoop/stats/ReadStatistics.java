package io.s3e.hadoop.stats;

import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.s3a.statistics.S3AInputStreamStatistics;
import org.jspecify.annotations.Nullable;

/**
 * Counts what a stream's reader gets, in S3A's counters of the stream and in Hadoop's counters of
 * the file system and thread, from which Spark takes the input bytes of a task. Hadoop's are kept
 * by thread, so they are told on the thread that reads. Any thread; holds no stream.
 */
public final class ReadStatistics {
  private final S3AInputStreamStatistics stream;
  private final FileSystem.@Nullable Statistics fileSystem;

  /**
   * @param stream S3A's counters of the stream
   * @param fileSystem Hadoop's counters of the file system; null where there are none
   */
  public ReadStatistics(
      S3AInputStreamStatistics stream, FileSystem.@Nullable Statistics fileSystem) {
    this.stream = stream;
    this.fileSystem = fileSystem;
  }

  public void seek(long from, long to) {
    if (to > from) {
      stream.seekForwards(to - from, 0);
    } else {
      stream.seekBackwards(to - from);
    }
  }

  public void readStarted(long position, long requested) {
    stream.readOperationStarted(position, requested);
  }

  /**
   * @param got bytes, or -1 at the end of the file
   */
  public void readCompleted(int requested, int got) {
    if (got > 0) {
      bytesRead(got);
    }
    stream.readOperationCompleted(requested, got);
  }

  public void readFullyStarted(long position, long requested) {
    stream.readFullyOperationStarted(position, requested);
  }

  public void bytesRead(long bytes) {
    stream.bytesRead(bytes);
    countForThread(bytes);
  }

  public void vectoredStarted(int ranges, int combined, long bytes) {
    stream.readVectoredOperationStarted(ranges, combined);
    countForThread(bytes);
  }

  /** On whatever thread completes the range. */
  public void vectoredCompleted(long bytes) {
    stream.bytesRead(bytes);
  }

  private void countForThread(long bytes) {
    if (fileSystem != null) {
      fileSystem.incrementBytesRead(bytes);
    }
  }
}
