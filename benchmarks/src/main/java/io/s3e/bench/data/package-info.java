/**
 * The data that the workloads read: TPC-H lineitem, as text and as Parquet, the same on every run.
 */
@NullMarked
package io.s3e.bench.data;

import org.jspecify.annotations.NullMarked;
