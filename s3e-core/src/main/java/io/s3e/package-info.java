/**
 * The front door: {@link io.s3e.S3E} is an engine, {@link io.s3e.S3EConfig} what it may use, {@link
 * io.s3e.OpenOptions} how a stream is opened.
 */
@NullMarked
package io.s3e;

import org.jspecify.annotations.NullMarked;
