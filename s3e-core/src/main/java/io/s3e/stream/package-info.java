/**
 * The streams that an application reads from. {@link io.s3e.stream.S3EInputStream} is the stream;
 * {@link io.s3e.stream.BlockReader} brings it the block that holds the next byte; {@link
 * io.s3e.stream.Pump} keeps prefetch ahead of it; {@link io.s3e.stream.VectoredRead} serves many
 * ranges at once; an {@link io.s3e.stream.Announcement} is what was fetched of an object before it
 * is opened.
 *
 * <p>Internal to S3E but for {@link Announcement}, {@link S3EInputStream}.
 */
@NullMarked
package io.s3e.stream;

import org.jspecify.annotations.NullMarked;
