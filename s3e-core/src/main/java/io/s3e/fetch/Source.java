package io.s3e.fetch;

/** Where the bytes of a block are to be looked for. */
enum Source {
  /** In S3 alone. */
  S3,
  /** On disk, by all that memory knows of it; in S3 if they are not there after all. */
  DISK,
  /**
   * In S3, by all that memory knows; but the disk is shared, so it is looked at once more, and
   * other processes are told.
   */
  S3_CLAIMED
}
