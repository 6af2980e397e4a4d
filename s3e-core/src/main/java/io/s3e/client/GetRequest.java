// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One ranged GET.
 *
 * @param object what to read
 * @param range which bytes; not empty, no longer than the client's limit for the kind of delivery
 * @param etag sent as {@code If-Match} exactly as S3 gave it, quotes included; null sends none
 * @param versionId sent as {@code versionId}; null reads the latest
 * @param lend true to be given the client's own buffer by {@link ResponseHandler#onLent}, only if
 *     {@link ClientLimits#lends()}; false to be given chunks by {@link ResponseHandler#onData}
 * @param headers further request headers, for example for SSE-C or requester-pays
 * @param context opaque to the client's peers: what the opener of the stream attached, for a client
 *     that belongs to it; may be null
 */
public record GetRequest(
    ObjectRef object,
    ByteRange range,
    @Nullable String etag,
    @Nullable String versionId,
    boolean lend,
    Map<String, String> headers,
    @Nullable Object context) {
  public GetRequest {
    headers = Map.copyOf(headers);
    if (range.isEmpty()) {
      throw new IllegalArgumentException("empty range for " + object);
    }
  }

  /** Operation, object and range, for messages. */
  public String subject() {
    return "GET " + object + " " + range;
  }
}
