package io.s3e.bench;

import io.s3e.bench.workload.WorkloadKind;
import io.s3e.bench.workload.WorkloadSizes;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a comparison is to do, checked.
 *
 * @param engines what is compared, in the order of the table
 * @param workloads what is read, in the order of the table
 * @param rounds how often each engine runs each workload, warm-up apart
 * @param bytes size of the text object, and of a sequential read
 * @param randomBytes how much {@code rnd} reads in a run
 * @param seekBytes how much {@code back} reads in a run
 * @param smallObjects how many objects {@code small} reads
 * @param parquetScale TPC-H scale of the Parquet object
 * @param server how the embedded server serves
 * @param heap {@code -Xmx} of each engine's JVM
 * @param jvmOptions more options of each engine's JVM
 * @param readDeadline a single read that takes longer has failed
 * @param hadoop configuration entries for every engine
 * @param uri the user's own object; null for the embedded server
 * @param workDirectory where data and temporary files go; null for the system's
 * @param reportDirectory where the report goes
 */
record JobOptions(
    List<Engine> engines,
    List<WorkloadKind> workloads,
    int rounds,
    long bytes,
    long randomBytes,
    long seekBytes,
    int smallObjects,
    double parquetScale,
    ServerSettings server,
    String heap,
    List<String> jvmOptions,
    Duration readDeadline,
    Map<String, String> hadoop,
    @Nullable String uri,
    @Nullable Path workDirectory,
    Path reportDirectory) {

  /** A scan of the small Parquet file is over before the compiler has seen it: more of them. */
  private static final int PARQUET_WARM_UPS = 3;

  /** Warm-up of a sequential read: enough for the compiler, short for a slow stream. */
  private static final long WARM_UP_BYTES = 64L << 20;

  /** How much the workloads read. */
  WorkloadSizes sizes() {
    return new WorkloadSizes(bytes, randomBytes, seekBytes, smallObjects);
  }

  /** How much a run of a workload reads; what a Parquet run reads is up to the file. */
  long bytesOf(WorkloadKind workload) {
    return workload.bytes(sizes());
  }

  /** How many runs come before the counted ones. */
  int warmUpsOf(WorkloadKind workload) {
    return workload.readsParquet() ? PARQUET_WARM_UPS : 1;
  }

  /** How much a run before the counted ones reads. */
  long warmUpBytesOf(WorkloadKind workload) {
    return Math.min(WARM_UP_BYTES, bytesOf(workload));
  }
}
