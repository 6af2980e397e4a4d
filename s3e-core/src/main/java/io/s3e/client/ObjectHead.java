// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import org.jspecify.annotations.Nullable;

/**
 * The answer of HEAD about an object.
 *
 * @param size length in bytes
 * @param etag ETag as sent, quotes included; null if the store sends none
 * @param versionId version; null if the bucket is not versioned
 * @param contentEncoding {@code Content-Encoding} that the object is stored with; null if none
 */
public record ObjectHead(
    long size,
    @Nullable String etag,
    @Nullable String versionId,
    @Nullable String contentEncoding) {}
