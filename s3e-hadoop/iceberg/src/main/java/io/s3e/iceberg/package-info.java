/**
 * Iceberg's files read by S3E: {@link io.s3e.iceberg.S3EFileIO} is Iceberg's {@code S3FileIO} with
 * another stream. Needs no Hadoop.
 */
@NullMarked
package io.s3e.iceberg;

import org.jspecify.annotations.NullMarked;
