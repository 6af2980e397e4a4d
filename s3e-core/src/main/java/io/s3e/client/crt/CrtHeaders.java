package io.s3e.client.crt;

import io.s3e.client.ResponseHead;
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
        find(headers, "Content-Encoding"));
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
