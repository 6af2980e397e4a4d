// SPDX-License-Identifier: Apache-2.0
package io.s3e.block;

import java.util.Objects;

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

  @Override
  public String toString() {
    return "s3://" + bucket + "/" + key;
  }
}
