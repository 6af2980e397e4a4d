// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import org.jspecify.annotations.Nullable;

/**
 * Status and headers of a GET response, as the server sent them and unchecked, but for a
 * Content-Length of the {@linkplain LengthSource#CLIENT client's}. Absent headers are null; an
 * absent Content-Length is -1.
 *
 * @param status HTTP status
 * @param contentRange {@code Content-Range}
 * @param contentLength {@code Content-Length} in bytes, or -1
 * @param etag {@code ETag}, quotes included
 * @param versionId {@code x-amz-version-id}
 * @param contentEncoding {@code Content-Encoding}
 * @param transferEncoding {@code Transfer-Encoding}, which says how the body is framed; null too
 *     where the client has seen to that itself
 * @param lengthSource whose word {@code contentLength} is; {@link LengthSource#NOBODY} if there is
 *     none
 * @param requestId {@code x-amz-request-id}, the store's name of the request
 */
public record ResponseHead(
    int status,
    @Nullable String contentRange,
    long contentLength,
    @Nullable String etag,
    @Nullable String versionId,
    @Nullable String contentEncoding,
    @Nullable String transferEncoding,
    LengthSource lengthSource,
    @Nullable String requestId) {
  /** Whose word a Content-Length is: what can be believed of a body before the answer has ended. */
  public enum LengthSource {
    /** The store's. The client ends the body there; an answer that ends before it fails. */
    STORE,
    /**
     * The client's: the CRT hides the store's and computes another from Content-Range. Such a
     * client hands a body over in one call, once the answer has ended.
     */
    CLIENT,
    /** There is none: the last chunk, or the end of the connection, ends the body. */
    NOBODY
  }

  public ResponseHead {
    // Records of GETs keep it.
    if (requestId != null && requestId.length() > StoreAnswer.MOST_CHARS) {
      requestId = requestId.substring(0, StoreAnswer.MOST_CHARS) + "...";
    }
    lengthSource = contentLength < 0 ? LengthSource.NOBODY : lengthSource;
  }

  /** The head of an answer whose body ends by Content-Length or with the connection. */
  public ResponseHead(
      int status,
      @Nullable String range,
      long length,
      @Nullable String etag,
      @Nullable String versionId,
      @Nullable String encoding) {
    this(status, range, length, etag, versionId, encoding, null, LengthSource.STORE, null);
  }
}
