package io.s3e.hadoop.stream;

import io.s3e.hadoop.client.ReadEngine;
import org.apache.hadoop.fs.statistics.IOStatisticsAggregator;

/** An S3E stream inside an FSDataInputStream, as its file system sees it. */
public interface S3EReadable {

  /**
   * Reads by that engine and with those hints from now on; no effect once something has been read.
   *
   * @param opener counts for the opening thread: {@code openFile()} opens on another thread, where
   *     S3A takes that thread's
   */
  void attach(ReadEngine engine, OpenHints hints, IOStatisticsAggregator opener);
}
