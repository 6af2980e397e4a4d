/**
 * What jobs have learnt of the tables that they read, from run to run: facts, and how long tasks
 * were blocked with them and without. The file system asks {@link
 * io.s3e.hadoop.history.JobHistory}, and tools {@link io.s3e.hadoop.history.HistoryStore}.
 */
@NullMarked
package io.s3e.hadoop.history;

import org.jspecify.annotations.NullMarked;
