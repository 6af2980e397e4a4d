// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.formats;

/** How the pages and streams of a file are compressed. */
public enum Codec {
  SNAPPY,
  ZSTD,
  /** Of the JDK, GZIP in Parquet. */
  ZLIB
}
