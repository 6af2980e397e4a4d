/**
 * What the harness puts into an engine's JVM beside the engine: a main class that tells when the
 * engine's own is over ({@link io.s3e.engines.inside.LastWord}), and S3A or S3E with their reads
 * counted ({@link io.s3e.engines.inside.CountedS3A} is the control). It runs on the engine's own
 * Hadoop, and on the bundle jar.
 */
@NullMarked
package io.s3e.engines.inside;

import org.jspecify.annotations.NullMarked;
