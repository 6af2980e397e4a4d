/**
 * What the harness puts into an engine's JVM beside the engine: a main class that tells when the
 * engine's own is over ({@link io.s3e.engines.inside.LastWord}), and S3A with its reads counted
 * ({@link io.s3e.engines.inside.CountedS3A}), which is the control. Nothing of S3E, nothing beside
 * Hadoop; slf4j of any version.
 */
@NullMarked
package io.s3e.engines.inside;

import org.jspecify.annotations.NullMarked;
