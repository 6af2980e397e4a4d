// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import java.io.IOException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Where a client finds the credentials that it signs its requests with. It asks on a thread of its
 * own, which may block: before the first request, half a minute after each answer, before the
 * expiry, and once the store has refused what it was told. So a source may keep its answer, but has
 * to notice when that no longer holds. It is asked once at a time, but beside a call that hangs:
 * for each 2 min of it once more, on another thread.
 */
@FunctionalInterface
public interface CredentialsSource {
  /**
   * The credentials that hold now; null to send unsigned requests.
   *
   * @throws IOException if there are none at present. The requests that wait for them fail with it,
   *     as {@link RequestFailure.Kind#CREDENTIALS}; a RuntimeException is taken alike
   */
  @Nullable Credentials resolve() throws IOException;

  /**
   * The id of the key whose sessions the credentials are, as of the last answer: those of
   * CreateSession for a directory bucket (S3 Express One Zone). Null (the default) for others.
   * Waits for nothing.
   */
  default @Nullable String sessionsOf() {
    return null;
  }

  /** A source of credentials that always hold. */
  static CredentialsSource of(String keyId, String secret) {
    Credentials always = new Credentials(keyId, secret, null, null);
    return () -> always;
  }

  /**
   * An access key.
   *
   * @param keyId its id, which is no secret
   * @param sessionToken null for a key that lasts
   * @param expiry from when on the key does not hold; null if that is not known
   */
  record Credentials(
      String keyId, String secret, @Nullable String sessionToken, @Nullable Instant expiry) {
    /** Without what is secret. */
    @Override
    public String toString() {
      return "access key " + keyId;
    }
  }
}
