/**
 * The command {@code s3e}: {@link io.s3e.cli.S3eCommand} and one class for each of its
 * sub-commands, except {@code bench}, which is {@link io.s3e.bench.BenchCommand}.
 */
@NullMarked
package io.s3e.cli;

import org.jspecify.annotations.NullMarked;
