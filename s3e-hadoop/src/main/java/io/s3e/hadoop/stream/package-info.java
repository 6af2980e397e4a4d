/**
 * The open file: {@link io.s3e.hadoop.stream.S3EHadoopInputStream} has Hadoop's interfaces and
 * promises, {@link io.s3e.hadoop.stream.OpenStream} the state that outlives a forgotten stream,
 * {@link io.s3e.hadoop.stream.S3EObjectInputStream} the shape that the stream SPI of Hadoop 3.4.2
 * and later wants.
 */
@NullMarked
package io.s3e.hadoop.stream;

import org.jspecify.annotations.NullMarked;
