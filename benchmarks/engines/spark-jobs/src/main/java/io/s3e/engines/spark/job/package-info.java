/**
 * Programs that the tests and the measurement of Spark submit with {@code spark-submit}.
 *
 * <p>{@link io.s3e.engines.spark.job.Steps} is the main class: it reads one step of work a line and
 * prints one line of result for each. A step runs a {@link io.s3e.engines.spark.job.Step} and is
 * measured from outside of Spark's own figures: {@link io.s3e.engines.spark.job.TaskMeter} takes
 * what Spark reports, {@link io.s3e.engines.spark.job.ReadClock} what the streams were asked for
 * and gave.
 */
@NullMarked
package io.s3e.engines.spark.job;

import org.jspecify.annotations.NullMarked;
