/**
 * The Spark plugin: what a driver and an executor do so that {@code s3a://} is read by S3E, and so
 * that the work of S3E is seen in Spark.
 *
 * <p>{@code S3EPlugin} is what Spark loads. The driver's part sets Hadoop's configuration, checks
 * the memory of executors, and collects what their tasks read; an executor's part holds the engine
 * of its JVM and counts. {@code conf} has the settings, {@code stages} the way of the counts from
 * tasks to events, {@code metrics} what Spark's sinks show.
 */
@NullMarked
package io.s3e.spark;

import org.jspecify.annotations.NullMarked;
