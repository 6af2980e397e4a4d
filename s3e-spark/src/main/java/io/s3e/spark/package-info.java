/**
 * The Spark plugin: what a driver and an executor do so that {@code s3a://} is read by S3E, and so
 * that the work of S3E is seen in Spark.
 *
 * <p>Imports go downward: this package knows {@code settings}, {@code metrics} and {@code stages};
 * {@code stages} knows nothing of the others.
 */
@NullMarked
package io.s3e.spark;

import org.jspecify.annotations.NullMarked;
