/**
 * Iceberg's files read by S3E: {@link io.s3e.iceberg.S3EFileIO} is Iceberg's {@code S3FileIO} with
 * another stream, and {@link io.s3e.iceberg.S3EResolvingFileIO} Iceberg's resolver by schemes with
 * that. Needs no Hadoop, but where Iceberg's resolver does.
 */
@NullMarked
package io.s3e.iceberg;

import org.jspecify.annotations.NullMarked;
