// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.explain;

/** The files of one engine's GETs, as operators see them: {@code io.s3e:type=GetFiles,...}. */
public interface GetFilesMBean {
  /** The names of the files, with {@code *} for their numbers. */
  String getFiles();

  /** GETs that were to be written: as many as were written, were dropped or are queued. */
  long getOffered();

  /** GETs that a file has, or had before it was deleted. */
  long getWritten();

  /** GETs that no file has: too many came at once, or a file could not be written. */
  long getDropped();
}
