// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.stream;

import io.s3e.hadoop.client.ReadEngine;

/** An S3E stream inside an FSDataInputStream, as its file system sees it. */
public interface S3EReadable {

  /** Reads by that engine from now on, as opened; no effect once something has been read. */
  void attach(ReadEngine engine, Opening opening);
}
