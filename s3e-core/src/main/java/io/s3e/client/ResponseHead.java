package io.s3e.client;

import org.jspecify.annotations.Nullable;

/**
 * Status and headers of a GET response, as the server sent them and unchecked. Absent headers are
 * null; an absent Content-Length is -1.
 *
 * @param status HTTP status
 * @param contentRange {@code Content-Range}
 * @param contentLength {@code Content-Length} in bytes, or -1
 * @param etag {@code ETag}, quotes included
 * @param versionId {@code x-amz-version-id}
 * @param contentEncoding {@code Content-Encoding}
 * @param transferEncoding {@code Transfer-Encoding}, which says how the body is framed; null too
 *     where the client has seen to that itself
 */
public record ResponseHead(
    int status,
    @Nullable String contentRange,
    long contentLength,
    @Nullable String etag,
    @Nullable String versionId,
    @Nullable String contentEncoding,
    @Nullable String transferEncoding) {

  /** The head of an answer whose body is framed by its length or the end of the connection. */
  public ResponseHead(
      int status,
      @Nullable String contentRange,
      long contentLength,
      @Nullable String etag,
      @Nullable String versionId,
      @Nullable String contentEncoding) {
    this(status, contentRange, contentLength, etag, versionId, contentEncoding, null);
  }
}
