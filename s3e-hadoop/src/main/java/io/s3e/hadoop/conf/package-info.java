/**
 * The settings of S3E under Hadoop: the table of keys ({@link io.s3e.hadoop.conf.S3EKeys}, {@link
 * io.s3e.hadoop.conf.DiskCacheKeys}), the records that checked values become, and the pages of
 * docs/ that are generated from the tables. Reads configurations; opens nothing.
 */
@NullMarked
package io.s3e.hadoop.conf;

import org.jspecify.annotations.NullMarked;
