// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import io.s3e.block.ObjectRef;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One HEAD.
 *
 * @param object what to ask about
 * @param versionId which version; null asks for the latest
 * @param headers further request headers
 * @param context as in {@link GetRequest}
 */
public record HeadRequest(
    ObjectRef object,
    @Nullable String versionId,
    Map<String, String> headers,
    @Nullable Object context) {
  public HeadRequest {
    headers = Map.copyOf(headers);
  }

  /** Operation and object, for messages. */
  public String subject() {
    return "HEAD " + object;
  }
}
