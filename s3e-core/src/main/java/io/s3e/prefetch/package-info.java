/**
 * Decides which blocks to fetch before they are asked for. Pure policy: no I/O, no threads, no
 * clock, so that every decision can be tested as a transcript of reads in and block ranges out.
 *
 * <p>A planner is told what its reader does, and asked for a {@link io.s3e.prefetch.Wish}: what it
 * wants now. {@link io.s3e.prefetch.Ahead} compares the wish with what was started for it, says
 * what is to be started and what is to be given up, and tells the {@link
 * io.s3e.prefetch.GuessJudge} of each range (the stream's {@link io.s3e.prefetch.Ledger}, or that
 * of its table) what became of it. {@link io.s3e.prefetch.ReadPlanner} is the planner of readers
 * that go forward, {@link io.s3e.prefetch.AccessPattern} the one detector of how a reader goes.
 *
 * <p>Internal to S3E but for {@link ReadPolicy}.
 */
@NullMarked
package io.s3e.prefetch;

import org.jspecify.annotations.NullMarked;
