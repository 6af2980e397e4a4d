package io.s3e.client.crt;

import io.s3e.client.ResponseHead;
import io.s3e.client.ResponseHead.LengthSource;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.crt.http.HttpHeader;

/** Reads response headers as the CRT gives them. */
final class CrtHeaders {
  private CrtHeaders() {}

  static ResponseHead responseHead(int status, HttpHeader[] headers) {
    return new ResponseHead(
        status,
        find(headers, "Content-Range"),
        contentLength(headers),
        find(headers, "ETag"),
        find(headers, "x-amz-version-id"),
        find(headers, "Content-Encoding"),
        null,
        LengthSource.CLIENT);
  }

  /** By name; of a header that comes twice the last one. */
  static Map<String, String> asMap(HttpHeader @Nullable [] headers) {
    Map<String, String> map = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    if (headers != null) {
      for (HttpHeader header : headers) {
        map.put(header.getName(), header.getValue());
      }
    }
    return map;
  }

  static @Nullable String find(HttpHeader[] headers, String name) {
    for (HttpHeader header : headers) {
      if (name.equalsIgnoreCase(header.getName())) {
        return header.getValue();
      }
    }
    return null;
  }

  /** The value of Content-Length, or -1 if there is none that is a number. */
  static long contentLength(HttpHeader[] headers) {
    String value = find(headers, "Content-Length");
    if (value == null) {
      return -1;
    }
    try {
      return Long.parseLong(value.trim());
    } catch (NumberFormatException e) {
      return -1;
    }
  }
}
