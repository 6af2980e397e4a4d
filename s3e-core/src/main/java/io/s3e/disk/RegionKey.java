package io.s3e.disk;

import javax.crypto.SecretKey;

/**
 * The key of one generation of one region, where a cache is encrypted.
 *
 * @param secret of AES-256, for this generation alone, so that slots serve as nonces
 */
record RegionKey(SecretKey secret) {
  /** Length of the salt that a key is made of, in bytes. */
  static final int SALT_BYTES = 16;

  static RegionKey of(CacheKey key, byte[] salt) {
    return new RegionKey(key.generationKey(salt));
  }

  /** Without the key. */
  @Override
  public String toString() {
    return "RegionKey";
  }
}
