/**
 * What {@code s3e explain} says of a Spark event log, from the file to the advice:
 *
 * <ol>
 *   <li>{@link io.s3e.explain.EventLog} finds logs below a path and reads their lines, through a
 *       {@link io.s3e.explain.LogCodec}.
 *   <li>{@link io.s3e.explain.ApplicationReader} makes an {@link io.s3e.explain.Application} of the
 *       events: {@link io.s3e.explain.Stage}s, and the {@link io.s3e.explain.TableScan}s that
 *       {@link io.s3e.explain.PlanReader} finds in plans.
 *   <li>{@link io.s3e.explain.TableReads} lays the reads of stages on the tables that their scans
 *       name; {@link io.s3e.explain.FooterLook} adds what the files say, if that is wanted.
 *   <li>{@link io.s3e.explain.Explanation} asks every {@link io.s3e.explain.Rule} and ranks their
 *       {@link io.s3e.explain.Finding}s; {@link io.s3e.explain.ExplanationText} writes it.
 * </ol>
 *
 * <p>{@link io.s3e.explain.LiveGets} is what it says of a JVM that runs.
 */
@NullMarked
package io.s3e.explain;

import org.jspecify.annotations.NullMarked;
