// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import org.jspecify.annotations.Nullable;

/**
 * Access points of S3 Object Lambda. A function of the owner's makes each answer, and may make
 * another one for another caller, under the ETag of the object that it was made from. So what one
 * file system has fetched there serves no other, in memory or on disk.
 */
public final class ObjectLambda {
  private ObjectLambda() {}

  /**
   * Whether a bucket is such a point.
   *
   * @param bucket as S3A has it: a name, an alias or an ARN
   */
  static boolean answers(String bucket) {
    return bucket.endsWith("--ol-s3")
        || (bucket.startsWith("arn:") && bucket.contains(":s3-object-lambda:"));
  }

  /** The name that blocks are shared under; null where they are shared with nobody. */
  public static @Nullable String store(String bucket, String store) {
    return answers(bucket) ? null : store;
  }

  /** Why objects must not be written to local disk, in words that end a sentence; or null. */
  public static @Nullable String notForDisk(String bucket) {
    return answers(bucket) ? "S3 Object Lambda makes its objects for each reader" : null;
  }
}
