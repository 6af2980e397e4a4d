/**
 * Counters: those of the core under the names that S3A's users know, for streams, threads and file
 * systems.
 */
@NullMarked
package io.s3e.hadoop.stats;

import org.jspecify.annotations.NullMarked;
