/**
 * The streams that an application reads from. {@link io.s3e.stream.S3EInputStream} is the stream;
 * {@link io.s3e.stream.Ask} is the loop that all reads go through; {@link
 * io.s3e.stream.BlockReader} knows the blocks of the object; {@link io.s3e.stream.Pump} keeps
 * prefetch ahead; {@link io.s3e.stream.VectoredRead} serves many ranges at once; an {@link
 * io.s3e.stream.Announcement} is what was fetched of an object before it is opened.
 *
 * <p>Internal to S3E but for {@link Announcement}, {@link S3EInputStream}.
 */
@NullMarked
package io.s3e.stream;

import org.jspecify.annotations.NullMarked;
