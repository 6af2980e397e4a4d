/**
 * The tab S3E of Spark's UI, in a running application and in the History Server.
 *
 * <p>{@link io.s3e.spark.ui.S3ETab} is attached to a {@code SparkUI} and asks for a {@link
 * io.s3e.spark.ui.ReadsView} at each request: the counts of {@link io.s3e.spark.stages} joined with
 * what Spark says of its stages. {@link io.s3e.spark.ui.ReadsPage} turns a view into HTML and knows
 * nothing of Spark's pages; {@link io.s3e.spark.ui.SparkPages} puts the HTML inside of Spark's
 * header, whose signature differs between versions.
 */
@NullMarked
package io.s3e.spark.ui;

import org.jspecify.annotations.NullMarked;
