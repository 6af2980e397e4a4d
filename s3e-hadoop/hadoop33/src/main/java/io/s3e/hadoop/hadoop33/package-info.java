/**
 * Reading by S3E under hadoop-aws 3.3.4 to 3.3.6, whose S3A stands upon version 1 of the AWS SDK
 * and has no seam for streams: {@link io.s3e.hadoop.hadoop33.Reads} is what {@code S3EFileSystem}
 * opens files by there. Compiled against 3.3.4; no class of this package is loaded on Hadoop 3.4
 * and later, and none refers to version 2 of the SDK.
 */
@NullMarked
package io.s3e.hadoop.hadoop33;

import org.jspecify.annotations.NullMarked;
