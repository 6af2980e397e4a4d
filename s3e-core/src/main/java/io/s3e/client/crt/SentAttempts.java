// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.crt;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.crt.s3.S3RequestMetrics;

/**
 * Which attempts of the CRT's went out. Its telemetry has the time at which the first byte was
 * written, and aws-crt 0.50 has no method that tells it, so the field is read. Without the field an
 * attempt counts that was given to a connection: about one in a hundred of those that are cancelled
 * is cancelled between the two.
 */
final class SentAttempts {
  private static final Logger LOG = LoggerFactory.getLogger(SentAttempts.class);

  /** −1 in an attempt of which nothing was written; null if this aws-crt has no such field. */
  private static final @Nullable VarHandle SEND_START = find();

  private SentAttempts() {}

  private static @Nullable VarHandle find() {
    try {
      return MethodHandles.privateLookupIn(S3RequestMetrics.class, MethodHandles.lookup())
          .findVarHandle(S3RequestMetrics.class, "sendStartTimestampNs", long.class);
    } catch (ReflectiveOperationException | RuntimeException e) {
      LOG.debug("This aws-crt does not tell when a request was written", e);
      return null;
    }
  }

  /** Whether the attempt, which is over, was written to a connection. */
  static boolean wasSent(S3RequestMetrics attempt) {
    VarHandle start = SEND_START;
    return start == null ? attempt.getIpAddress() != null : (long) start.get(attempt) >= 0;
  }
}
