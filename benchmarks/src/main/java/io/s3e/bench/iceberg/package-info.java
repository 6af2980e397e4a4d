/**
 * Iceberg's file IO as an engine of the benchmark: its own and S3E's, called as Iceberg's ParquetIO
 * calls them.
 */
@NullMarked
package io.s3e.bench.iceberg;

import org.jspecify.annotations.NullMarked;
