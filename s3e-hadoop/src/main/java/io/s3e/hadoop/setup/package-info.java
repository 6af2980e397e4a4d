/**
 * The libraries that S3E finds around it. Nothing here refers to a class of hadoop-aws, of the AWS
 * SDK or of S3E that refers to them, so that it can say what is missing.
 */
@NullMarked
package io.s3e.hadoop.setup;

import org.jspecify.annotations.NullMarked;
