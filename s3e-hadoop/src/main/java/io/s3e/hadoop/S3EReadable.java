package io.s3e.hadoop;

/** An S3E stream inside an FSDataInputStream, as its file system sees it. */
interface S3EReadable {

  /**
   * Reads by that engine and with those hints from now on; no effect once something has been read.
   */
  void attach(ReadEngine engine, OpenHints hints);
}
