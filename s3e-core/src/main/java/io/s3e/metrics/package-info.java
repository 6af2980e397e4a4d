/**
 * Counters and events: a leaf that everything may report to and that imports of S3E {@code
 * io.s3e.jvm} alone.
 *
 * <p>Internal to S3E but for {@link Counters}, {@link DiskMetrics}, {@link EngineMetrics}, {@link
 * StreamListener}.
 */
@NullMarked
package io.s3e.metrics;

import org.jspecify.annotations.NullMarked;
