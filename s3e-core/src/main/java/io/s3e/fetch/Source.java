package io.s3e.fetch;

/** Where the bytes of a block are to be looked for. */
enum Source {
  /** In S3 alone. */
  S3,
  /** On disk, by all that memory knows of it; in S3 if they are not there after all. */
  DISK,
  /** On disk, of which memory knows nothing, since others write there too; as a rule in S3. */
  DISK_OR_S3
}
