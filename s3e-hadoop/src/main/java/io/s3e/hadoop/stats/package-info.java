/**
 * Counters of reading. {@link io.s3e.hadoop.stats.ReadStatistic} is the table of names; {@link
 * io.s3e.hadoop.stats.StreamStatistics} counts for a stream, and for the thread that opened it;
 * {@link io.s3e.hadoop.stats.FileSystemStatistics} shows what the engine has counted;
 * docs/METRICS.md is made of the table.
 */
@NullMarked
package io.s3e.hadoop.stats;

import org.jspecify.annotations.NullMarked;
