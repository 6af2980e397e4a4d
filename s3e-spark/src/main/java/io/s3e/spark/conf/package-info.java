/** Settings: the plugin's own, and those of {@code s3a://} that are written as Spark's. */
@NullMarked
package io.s3e.spark.conf;

import org.jspecify.annotations.NullMarked;
