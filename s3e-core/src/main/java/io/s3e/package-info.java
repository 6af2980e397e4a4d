/**
 * The front door: {@link io.s3e.S3E} is a tenant of the engine, {@link io.s3e.S3EConfig} what it
 * may use, {@link io.s3e.OpenOptions} how a stream is opened.
 *
 * <p>Internal to S3E but for {@link DiskUse}, {@link EngineHold}, {@link OpenOptions}, {@link
 * ProgressListener}, {@link S3E}, {@link S3EConfig}.
 */
@NullMarked
package io.s3e;

import org.jspecify.annotations.NullMarked;
