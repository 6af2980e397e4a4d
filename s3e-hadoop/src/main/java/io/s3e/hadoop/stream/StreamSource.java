// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.stream;

import io.s3e.block.ObjectRef;
import io.s3e.hadoop.client.StreamRequests;
import org.apache.hadoop.fs.s3a.S3AReadOpContext;
import org.apache.hadoop.fs.s3a.statistics.S3AInputStreamStatistics;
import org.jspecify.annotations.Nullable;

/**
 * S3A's knowledge of one opened file.
 *
 * @param object where it lies
 * @param path the file's URI, for messages
 * @param length its length in bytes, by HEAD, status or the opener's word
 * @param etag its ETag as S3 gave it; null if nobody knows yet
 * @param versionId its version; null if not known or not versioned
 * @param context S3A's options for reading it, and its counters
 * @param statistics S3A's counters of this stream
 * @param requests the way to S3A's client, within the stream's audit span
 */
public record StreamSource(
    ObjectRef object,
    String path,
    long length,
    @Nullable String etag,
    @Nullable String versionId,
    S3AReadOpContext context,
    S3AInputStreamStatistics statistics,
    StreamRequests requests) {}
