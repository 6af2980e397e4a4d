/**
 * S3 clients with nothing above them: ranges of a fixed size, a fixed number of them in flight, no
 * stream, no cache, no prefetch. Their rate is the ceiling for any stream over the same client.
 * Knows nothing of workloads or measurement.
 */
@NullMarked
package io.s3e.bench.raw;

import org.jspecify.annotations.NullMarked;
