// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import javax.crypto.Mac;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/** The secret that the cache on disk is encrypted with. Shown nowhere. Immutable, any thread. */
public final class CacheKey {
  /** Length of the secret, in bytes. */
  public static final int BYTES = 32;

  static final int SALT_BYTES = 16;

  private static final String CHECK = "check of the key in a layout";

  private final byte[] secret;

  private CacheKey(byte[] secret) {
    this.secret = secret;
  }

  /**
   * The secret that several processes were given.
   *
   * @throws IllegalArgumentException if it has not {@value #BYTES} bytes; says nothing of it
   */
  public static CacheKey of(byte[] secret) {
    if (secret.length != BYTES) {
      throw new IllegalArgumentException(
          "cache key of " + secret.length + " bytes: expected " + BYTES + " bytes");
    }
    return new CacheKey(secret.clone());
  }

  /** A new secret, which no other process has. */
  public static CacheKey random() {
    return new CacheKey(random(BYTES));
  }

  static byte[] random(int length) {
    byte[] bytes = new byte[length];
    new SecureRandom().nextBytes(bytes);
    return bytes;
  }

  /** The key of one region alone: HMAC-SHA-256 of its salt; so its slots serve as nonces. */
  SecretKey regionKey(ByteBuffer salt) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret, "HmacSHA256"));
      mac.update(salt.duplicate());
      return new SecretKeySpec(mac.doFinal(), "AES");
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this JVM has no HMAC-SHA-256", e);
    }
  }

  /** Tells the key and does not give it away: part of an HMAC of a text longer than any salt. */
  long check() {
    SecretKey key = regionKey(StandardCharsets.US_ASCII.encode(CHECK));
    return ByteBuffer.wrap(key.getEncoded()).getLong();
  }

  /** Whether it is the same secret; tells nothing of it by the time that it takes. */
  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof CacheKey key && MessageDigest.isEqual(secret, key.secret);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(secret);
  }

  @Override
  public String toString() {
    return "CacheKey";
  }
}
