/**
 * The main job: real data in a real S3 protocol server, read by S3E and by the streams of S3A side
 * by side. {@link io.s3e.bench.BenchCommand} is the command; {@link io.s3e.bench.Comparison} the
 * job.
 */
@NullMarked
package io.s3e.bench;

import org.jspecify.annotations.NullMarked;
