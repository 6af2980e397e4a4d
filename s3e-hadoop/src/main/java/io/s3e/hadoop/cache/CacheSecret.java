// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.cache;

import io.s3e.disk.CacheKey;
import io.s3e.disk.DiskCacheConfig.Scope;
import io.s3e.hadoop.conf.DiskCacheKeys;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.Base64;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.s3a.S3AUtils;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.UserGroupInformation;
import org.jspecify.annotations.Nullable;

/**
 * The secret that the cache on disk is encrypted with ({@code fs.s3a.s3e.cache.encryption}).
 *
 * <p>In scope {@code app} the processes of an application find it among the Hadoop credentials that
 * they were started with. The submitter of the application puts it there first:
 *
 * <pre>{@code
 * CacheSecret.addTo(job.getCredentials());
 * }</pre>
 *
 * A process cannot make up for it later, since the others would not learn of its secret. Secrets
 * appear in no message.
 */
public final class CacheSecret {
  /** Name of the secret among Hadoop's credentials. */
  public static final String ALIAS = "s3e.cache.key";

  private CacheSecret() {}

  /** Adds a random secret, unless there is one. */
  public static void addTo(Credentials credentials) {
    Text alias = new Text(ALIAS);
    if (credentials.getSecretKey(alias) == null) {
      byte[] secret = new byte[CacheKey.BYTES];
      new SecureRandom().nextBytes(secret);
      credentials.addSecretKey(alias, secret);
    }
  }

  /**
   * The secret for files of a scope.
   *
   * @param bucket whose own secret is preferred in scope host; null if not known
   * @throws IllegalArgumentException if there is none, or it is not what it should be; names where
   *     it is looked for
   */
  static CacheKey find(Scope scope, Configuration conf, @Nullable String bucket) {
    return switch (scope) {
      case PRIVATE -> CacheKey.random();
      case APP -> ofApplication();
      case HOST -> ofHost(conf, bucket);
    };
  }

  private static CacheKey ofApplication() {
    byte[] secret;
    try {
      secret = UserGroupInformation.getCurrentUser().getCredentials().getSecretKey(new Text(ALIAS));
    } catch (IOException e) {
      throw missing("the secret " + ALIAS + " of the user's credentials cannot be read", e);
    }
    if (secret == null) {
      throw missing(
          "there is no secret "
              + ALIAS
              + " in the user's credentials: expected CacheSecret.addTo(job.getCredentials())"
              + " before the application is submitted",
          null);
    }
    return checked(secret, "the secret " + ALIAS + " of the user's credentials");
  }

  // A decoder's message would show a part of the secret, so it is no cause.
  @SuppressWarnings("UnusedException")
  private static CacheKey ofHost(Configuration conf, @Nullable String bucket) {
    String text;
    try {
      text =
          S3AUtils.lookupPassword(bucket == null ? "" : bucket, conf, DiskCacheKeys.SECRET, "", "");
    } catch (IOException e) {
      throw missing(DiskCacheKeys.SECRET + " cannot be read", e);
    }
    if (text == null || text.trim().isEmpty()) {
      throw missing(
          DiskCacheKeys.SECRET
              + " is not set: expected 32 bytes in Base64, in a credential provider or the"
              + " configuration",
          null);
    }
    byte[] secret;
    try {
      secret = Base64.getDecoder().decode(text.trim());
    } catch (IllegalArgumentException e) {
      throw missing(DiskCacheKeys.SECRET + " is not Base64: expected 32 bytes in Base64", null);
    }
    return checked(secret, DiskCacheKeys.SECRET);
  }

  private static CacheKey checked(byte[] secret, String where) {
    if (secret.length != CacheKey.BYTES) {
      throw missing(
          where + " has " + secret.length + " bytes: expected " + CacheKey.BYTES + " bytes", null);
    }
    return CacheKey.of(secret);
  }

  private static IllegalArgumentException missing(String why, @Nullable Exception cause) {
    return new IllegalArgumentException(
        DiskCacheKeys.ENCRYPTION.name() + " = \"true\", but " + why, cause);
  }
}
