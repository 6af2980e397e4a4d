/**
 * What Parquet and ORC files tell about the bytes that their readers will ask for, and the policy
 * that fetches those ahead. Pure, as {@link io.s3e.prefetch}: no I/O, no threads, no clock.
 *
 * <p>{@link io.s3e.columnar.StreamPlanner} is the way in: of one stream it has the planner of
 * forward reads, {@link io.s3e.columnar.FooterReading}, which asks for the bytes of a footer and
 * has {@link io.s3e.columnar.ParquetFooter} or {@link io.s3e.columnar.OrcTail} make a {@link
 * io.s3e.columnar.FileLayout} of it, and the {@link io.s3e.columnar.ColumnPlanner}, which plans by
 * that. {@link io.s3e.columnar.LayoutMemory} is what all streams of an engine know of files and
 * tables; a {@link io.s3e.prefetch.TableLedger} says which guesses were worth their bytes.
 *
 * <p><b>Nothing that a file says is trusted.</b> A layout names places inside the object, in order
 * and disjoint, or there is none; it decides which blocks are fetched, and never what is served.
 *
 * <p>Internal to S3E but for {@link ColumnarMode}, {@link LayoutMemory}, {@link PlaceFacts}, {@link
 * SplitSource}.
 */
@NullMarked
package io.s3e.columnar;

import org.jspecify.annotations.NullMarked;
