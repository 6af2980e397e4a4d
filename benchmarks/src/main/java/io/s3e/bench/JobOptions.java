// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import io.s3e.bench.workload.WorkloadKind;
import io.s3e.bench.workload.WorkloadSizes;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The options of a comparison, checked.
 *
 * @param engines what is compared, in the order of the table
 * @param workloads what is read, in the order of the table
 * @param rounds how often each engine runs each workload at most, warm-up apart
 * @param warmUp how long each engine runs a workload before it is counted
 * @param enginesByWorkload names of the engines of a workload, by its label, in which others do not
 *     run; all engines run the workloads that are not there
 * @param steadyShare a warm-up ends with a run whose rate differs from that of the run before by no
 *     more than this share and in which the JVM compiles little, and rounds end after three that
 *     differ by no more; 0: they last their time and number
 * @param keepsJvms whether an engine's JVM goes on with the engine's next workload
 * @param warmUpBytes how much it reads before at least
 * @param coldJvms how many fresh JVMs each engine has in a workload that is measured cold
 * @param bytes size of the text object, and of a sequential read
 * @param randomBytes how much {@code rnd} reads in a run
 * @param seekBytes how much {@code back} and {@code jumps} read in a run
 * @param smallObjects how many objects {@code small} reads
 * @param files how many files {@code manyfiles} reads
 * @param parquetScale TPC-H scale of the Parquet object
 * @param server how the embedded server serves
 * @param heap {@code -Xmx} of each engine's JVM
 * @param jvmOptions more options of each engine's JVM
 * @param readDeadline a single read that takes longer has failed
 * @param stagger how much later each JVM of a shared workload begins than the one before
 * @param pageCacheDropped whether what is on disk is to be read from the device, not from the page
 *     cache
 * @param hadoop configuration entries for every engine
 * @param uri the user's own object; null for the embedded server
 * @param workDirectory where data and temporary files go; null for the system's
 * @param reportDirectory where the report goes
 */
record JobOptions(
    List<Engine> engines,
    List<WorkloadKind> workloads,
    int rounds,
    Map<String, List<String>> enginesByWorkload,
    Duration warmUp,
    double steadyShare,
    boolean keepsJvms,
    long warmUpBytes,
    int coldJvms,
    long bytes,
    long randomBytes,
    long seekBytes,
    int smallObjects,
    int files,
    double parquetScale,
    ServerSettings server,
    String heap,
    List<String> jvmOptions,
    Duration readDeadline,
    Duration stagger,
    boolean pageCacheDropped,
    Map<String, String> hadoop,
    @Nullable String uri,
    @Nullable Path workDirectory,
    Path reportDirectory) {

  /** The first run of a warm-up shows how fast an engine is, and should be short for a slow one. */
  private static final long FIRST_RUN_BYTES = 64L << 20;

  /** Half the time to first byte is more than anything takes that does not ask the store. */
  private static final int WAIT_SHARE = 2;

  /** For stores whose time to first byte nobody has set, and servers without any. */
  private static final Duration LEAST_WAIT = Duration.ofMillis(5);

  /** A read that takes longer has waited for the store. */
  Duration waitThreshold() {
    Duration half = Duration.ofNanos(server.shape().firstByte().baseNanos() / WAIT_SHARE);
    return uri != null || half.compareTo(LEAST_WAIT) < 0 ? LEAST_WAIT : half;
  }

  /** The engines that a workload is for, in the order of the table. */
  List<Engine> enginesOf(WorkloadKind workload) {
    List<String> names = enginesByWorkload.get(workload.label());
    return engines.stream()
        .filter(engine -> names == null || names.contains(engine.name()))
        .filter(engine -> engine.runs(workload))
        .toList();
  }

  /** How often each engine runs a workload, warm-up apart. */
  int roundsOf(WorkloadKind workload) {
    return switch (workload.jvm()) {
      case KEPT, FRESH -> rounds;
      case COLD -> coldJvms;
    };
  }

  /** How much the workloads read. */
  WorkloadSizes sizes() {
    return new WorkloadSizes(bytes, randomBytes, seekBytes, smallObjects);
  }

  /** How much a run of a workload reads; what is read of a file of columns is up to the file. */
  long bytesOf(WorkloadKind workload) {
    return workload.bytes(sizes());
  }

  /** How much the first run before the counted ones reads. */
  long firstRunBytesOf(WorkloadKind workload) {
    return Math.min(FIRST_RUN_BYTES, bytesOf(workload));
  }
}
