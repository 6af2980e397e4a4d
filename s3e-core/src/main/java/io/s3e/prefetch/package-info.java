/**
 * Decides which blocks to fetch before they are asked for. Pure policy: no I/O, no threads, no
 * clock, so that every decision can be tested as a transcript of reads in and block ranges out.
 *
 * <p>Internal to S3E but for {@link ReadPolicy}.
 */
@NullMarked
package io.s3e.prefetch;

import org.jspecify.annotations.NullMarked;
