// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import io.s3e.bench.data.ObjectSlice;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One run of one workload, or, where the workload repeats itself, one pass of a run.
 *
 * @param workload label of a {@link WorkloadKind}
 * @param objects what to read, with where its bytes lie in {@code reference}
 * @param warmUpUri a small object that is read before the run, so that clients and connections
 *     exist as in a process that has been running; null when there is none
 * @param reference local file that the objects are slices of; null when there is none
 * @param bytes how much to read; a workload over a Parquet file reads all of its columns instead
 * @param columns columns to read of a Parquet file
 * @param seed seed of random positions: equal for all engines in a round
 * @param waitNanos a read that takes longer has waited for the store
 * @param readDeadlineMillis a single read that takes longer fails the run
 * @param warmUpMillis how long the process reads before the run, through file systems of which none
 *     is left; 0 for a process that has been warmed up by whole runs, or not at all
 * @param hadoop configuration entries of this run alone, on top of the engine's
 * @param last whether it is the last pass, after which the file system is closed
 */
public record RunSpec(
    String workload,
    List<ObjectSlice> objects,
    @Nullable String warmUpUri,
    @Nullable String reference,
    long bytes,
    List<String> columns,
    long seed,
    long waitNanos,
    long readDeadlineMillis,
    long warmUpMillis,
    Map<String, String> hadoop,
    boolean last) {

  /** The same with more passes to come. */
  public RunSpec notLast() {
    return with(objects, bytes, false);
  }

  /** The same over so much of these objects. */
  RunSpec of(List<ObjectSlice> some, long most) {
    return with(some, most, last);
  }

  private RunSpec with(List<ObjectSlice> read, long most, boolean isLast) {
    return new RunSpec(
        workload,
        read,
        warmUpUri,
        reference,
        most,
        columns,
        seed,
        waitNanos,
        readDeadlineMillis,
        warmUpMillis,
        hadoop,
        isLast);
  }
}
