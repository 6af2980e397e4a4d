/**
 * Files of parquet-java read by S3E: {@link io.s3e.parquet.S3EInputFile} is an {@code InputFile}
 * over an object. Needs no file system of Hadoop.
 */
@NullMarked
package io.s3e.parquet;

import org.jspecify.annotations.NullMarked;
