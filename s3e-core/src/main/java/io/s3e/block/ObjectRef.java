// SPDX-License-Identifier: Apache-2.0
package io.s3e.block;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Where an object lives: bucket and key, without scheme or endpoint.
 *
 * @param bucket bucket name, not empty
 * @param key object key as S3 stores it (no leading slash is added or removed), not empty
 */
public record ObjectRef(String bucket, String key) {
  public ObjectRef {
    Objects.requireNonNull(bucket, "bucket");
    Objects.requireNonNull(key, "key");
    if (bucket.isEmpty() || key.isEmpty()) {
      throw new IllegalArgumentException(
          "an object needs a bucket and a key, got bucket '" + bucket + "' and key '" + key + "'");
    }
  }

  /** Whether a bucket is one of S3 Express One Zone, whose requests are signed by a session. */
  public static boolean isDirectory(String bucket) {
    return bucket.endsWith("--x-s3");
  }

  /** Whether a bucket is the alias of an access point of S3 Express, Outposts or Object Lambda. */
  public static boolean isOtherPoint(String bucket) {
    return bucket.endsWith("--xa-s3") || bucket.endsWith("--op-s3") || bucket.endsWith("--ol-s3");
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof ObjectRef that && key.equals(that.key) && bucket.equals(that.bucket);
  }

  @Override
  public int hashCode() {
    return bucket.hashCode() * 31 + key.hashCode();
  }

  @Override
  public String toString() {
    return "s3://" + bucket + "/" + key;
  }
}
