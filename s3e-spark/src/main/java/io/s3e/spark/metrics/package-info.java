/** What Spark's metric system, and so each of its sinks, shows of S3E in a process. */
@NullMarked
package io.s3e.spark.metrics;

import org.jspecify.annotations.NullMarked;
