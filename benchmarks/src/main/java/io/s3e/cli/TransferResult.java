// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The result of a transfer.
 *
 * @param operation get or put
 * @param uri the object
 * @param local the file; {@code -} for a standard stream; null for none
 * @param bytes that were moved
 * @param seconds from the first request to the last answer
 * @param megabytesPerSecond of 10⁶ bytes
 * @param requests sent to the store, HEADs and retries included
 * @param retries those of them that were sent again after a failure
 * @param etag of the object, quotes included
 * @param versionId in a versioned bucket
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record TransferResult(
    String operation,
    String uri,
    @Nullable String local,
    long bytes,
    double seconds,
    double megabytesPerSecond,
    long requests,
    long retries,
    @Nullable String etag,
    @Nullable String versionId) {

  private static final double NANOS = 1e9;
  private static final double MEGA = 1e6;

  /** A rate over no time is that over a millisecond. */
  private static final Duration SHORTEST = Duration.ofMillis(1);

  static double seconds(long nanos) {
    return Math.max(SHORTEST.toNanos(), nanos) / NANOS;
  }

  static double megabytesPerSecond(long bytes, long nanos) {
    return Math.round(bytes / seconds(nanos) / MEGA * 10) / 10.0;
  }

  /** For reading. */
  String text() {
    String sign = operation.equals("get") ? " -> " : " <- ";
    return String.format(
        Locale.ROOT,
        "%s%s%s: %s in %.2f s, %.1f MB/s (%d requests, %d retries)",
        uri,
        sign,
        local == null ? "nothing" : local,
        ByteSize.format(bytes),
        seconds,
        megabytesPerSecond,
        requests,
        retries);
  }
}
