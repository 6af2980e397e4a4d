/**
 * The next files of a task: {@link io.s3e.spark.sql.S3EExtensions} has each scan of files tell
 * ({@link io.s3e.spark.sql.TaskFiles}) in which order its task opens them, so that the file system
 * fetches the end of the next one while the task reads the one before. Rows, plans and metrics stay
 * what they are.
 */
@NullMarked
package io.s3e.spark.sql;

import org.jspecify.annotations.NullMarked;
