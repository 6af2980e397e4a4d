/**
 * The workloads: each is the loop of an application over Hadoop's file system API, the same for
 * every engine, with every byte compared as it comes.
 */
@NullMarked
package io.s3e.bench.workload;

import org.jspecify.annotations.NullMarked;
