/**
 * The node over a scan of files, {@link io.s3e.spark.sql.NextFilesExec}, which {@link
 * io.s3e.spark.sql.S3EExtensions} brings. It has each task tell ({@link
 * io.s3e.spark.sql.TaskFiles}) in which order it opens files, so that the file system fetches the
 * end of the next one while the task reads the one before; and it shows what was read for the scan
 * ({@link io.s3e.spark.sql.ScanMetrics}). Rows, partitions and other metrics stay what they are.
 */
@NullMarked
package io.s3e.spark.sql;

import org.jspecify.annotations.NullMarked;
