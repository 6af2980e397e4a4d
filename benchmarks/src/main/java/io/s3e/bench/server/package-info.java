/**
 * An S3 server whose latency and bandwidth are set rather than found: the data plane of the
 * benchmarks.
 *
 * <p>{@link io.s3e.bench.server.ShapedS3Server} accepts every connection, plain or by TLS. Bodies
 * of object GETs come straight from the file, with {@code sendfile} or from mapped memory through
 * the cipher, at the pace of {@link io.s3e.bench.server.Shape}; everything else of the S3 protocol
 * is relayed, byte for byte, to an S3Proxy in the same process that owns the files. Requests are
 * signed with AWS Signature Version 4 and the signatures are checked on both ways.
 *
 * <p>Read it from {@code ClientConnection}: request → {@code Exchange} → {@code Shaper} (how long
 * to wait) → {@code ObjectGet} (what to answer) → {@code ShapedWriter} (when to send it) → {@code
 * Wire} (how to send it); {@code RequestLog} counts. {@link io.s3e.bench.server.ServerCheck} holds
 * the whole to its settings.
 */
@NullMarked
package io.s3e.bench.server;

import org.jspecify.annotations.NullMarked;
