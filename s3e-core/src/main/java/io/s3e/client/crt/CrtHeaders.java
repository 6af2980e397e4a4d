// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.crt;

import io.s3e.client.ResponseHead;
import io.s3e.client.ResponseHead.LengthSource;
import io.s3e.client.StoreAnswer;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.crt.http.HttpHeader;

/** Reads response headers as the CRT gives them. */
final class CrtHeaders {
  private CrtHeaders() {}

  static ResponseHead responseHead(StoreAnswer answer) {
    Map<String, String> headers = answer.headers();
    return new ResponseHead(
        answer.status(),
        headers.get("Content-Range"),
        contentLength(answer),
        headers.get("ETag"),
        headers.get("x-amz-version-id"),
        headers.get("Content-Encoding"),
        null,
        LengthSource.CLIENT,
        answer.requestId());
  }

  /** By name; of a header that comes twice the first one. */
  static Map<String, String> asMap(HttpHeader @Nullable [] headers) {
    Map<String, String> map = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    if (headers != null) {
      for (HttpHeader header : headers) {
        map.putIfAbsent(header.getName(), header.getValue());
      }
    }
    return map;
  }

  /** The value of Content-Length, or -1 if there is none that is a number. */
  private static long contentLength(StoreAnswer answer) {
    String value = answer.headers().get("Content-Length");
    try {
      return value == null ? -1 : Long.parseLong(value.trim());
    } catch (NumberFormatException e) {
      return -1;
    }
  }
}
