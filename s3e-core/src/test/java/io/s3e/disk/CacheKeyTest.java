// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CacheKeyTest {
  /** Each file system is handed the secret anew; one cache on disk serves all that have it. */
  @Test
  void keysOfOneSecretAreEqual() {
    byte[] secret = new byte[CacheKey.BYTES];
    CacheKey key = CacheKey.of(secret);
    assertThat(CacheKey.of(secret)).isEqualTo(key).hasSameHashCodeAs(key);
    secret[CacheKey.BYTES - 1] = 1;
    assertThat(CacheKey.of(secret)).isNotEqualTo(key);
    assertThat(CacheKey.random()).isNotEqualTo(CacheKey.random());
  }
}
