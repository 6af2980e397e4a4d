/** Counters and events: a leaf that everything may report to and that imports nothing of S3E. */
@NullMarked
package io.s3e.metrics;

import org.jspecify.annotations.NullMarked;
