package io.s3e.bench.workload;

import io.s3e.bench.data.ObjectSlice;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One run of one workload.
 *
 * @param workload label of a {@link WorkloadKind}
 * @param objects what to read, with where its bytes lie in {@code reference}
 * @param warmUpUri a small object that is read before the run, so that clients and connections
 *     exist as in a process that has been running; null when there is none
 * @param reference local file that the objects are slices of; null when there is none, as for
 *     Parquet
 * @param bytes how much to read; a workload over a Parquet file reads all of its columns instead
 * @param columns columns to read of a Parquet file
 * @param seed seed of random positions: equal for all engines in a round
 * @param waitNanos a read that takes longer has waited for the store
 * @param readDeadlineMillis a single read that takes longer fails the run
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
    long readDeadlineMillis) {}
