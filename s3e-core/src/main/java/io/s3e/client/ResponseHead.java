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
 */
public record ResponseHead(
    int status,
    @Nullable String contentRange,
    long contentLength,
    @Nullable String etag,
    @Nullable String versionId,
    @Nullable String contentEncoding) {}
