// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import com.fasterxml.jackson.annotation.JsonIgnore;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The figures of one run, from the process of its engine. Figures are -1 where they could not be
 * measured.
 *
 * @param status how it ended
 * @param failure why, when it did not end well
 * @param wallNanos from the first open (of a raw client: the first request) to the last close,
 *     comparison of the bytes included
 * @param bytesUsed bytes that the application got and wanted
 * @param reads calls of the application
 * @param readP50Nanos median time of a call
 * @param readP99Nanos 99th percentile of the same
 * @param blockedNanos time that the application's threads spent in calls that open and read files,
 *     each thread's counted; where row groups are read, without decoding
 * @param groups row groups, or stripes, that were read
 * @param waits calls that took so long that they must have waited for the store
 * @param cpuNanos processor time of the process, less that of the rig: comparing bytes, watching
 * @param compilerNanos what the JVM's compilers took of it, by the clock: more on a busy machine
 * @param allocatedBytes heap allocated by all threads, less that of the rig
 * @param idle memory before the first run of the process made its reader
 * @param peak most memory during the run
 * @param checksum what {@link Workload#run} returned
 * @param counters what the reader has counted itself meanwhile, by name; without zeros
 * @param parts what was measured by itself, in the order in which it ended; in most workloads none
 */
public record RunResult(
    Status status,
    @Nullable String failure,
    long wallNanos,
    long bytesUsed,
    long reads,
    long readP50Nanos,
    long readP99Nanos,
    long blockedNanos,
    long groups,
    long waits,
    long cpuNanos,
    long compilerNanos,
    long allocatedBytes,
    MemoryUse idle,
    MemoryUse peak,
    long checksum,
    Map<String, Long> counters,
    List<Part> parts) {

  public RunResult {
    counters = Map.copyOf(counters);
    parts = List.copyOf(parts);
  }

  /** How a run ended. */
  public enum Status {
    /** All bytes came and were right. */
    OK,
    /** The file system returned bytes that the object does not hold. */
    WRONG_BYTES,
    /** The file system, or the process, gave up. */
    FAILED,
    /** A read did not return within its deadline. */
    HUNG
  }

  /** A run without figures. */
  public static RunResult withoutFigures(Status status, @Nullable String failure) {
    return new RunResult(
        status,
        failure,
        -1,
        -1,
        -1,
        -1,
        -1,
        -1,
        -1,
        -1,
        -1,
        -1,
        -1,
        MemoryUse.UNKNOWN,
        MemoryUse.UNKNOWN,
        0,
        Map.of(),
        List.of());
  }

  /**
   * The figures of several processes that ran at the same time: the time of the slowest, the
   * longest of their latencies and of their blocked times, the sum of everything else. Without
   * figures if one of them has none; its failure is told.
   *
   * @param each of at least one process
   */
  public static RunResult together(List<RunResult> each) {
    if (each.size() == 1) {
      return each.get(0);
    }
    for (int i = 0; i < each.size(); i++) {
      RunResult one = each.get(i);
      if (!one.isOk()) {
        return withoutFigures(
            one.status, "JVM %d of %d: %s".formatted(i + 1, each.size(), one.failure));
      }
    }
    return new RunResult(
        Status.OK,
        null,
        most(each, RunResult::wallNanos),
        sum(each, RunResult::bytesUsed),
        sum(each, RunResult::reads),
        most(each, RunResult::readP50Nanos),
        most(each, RunResult::readP99Nanos),
        sum(each, RunResult::blockedNanos),
        sum(each, RunResult::groups),
        sum(each, RunResult::waits),
        sum(each, RunResult::cpuNanos),
        sum(each, RunResult::compilerNanos),
        sum(each, RunResult::allocatedBytes),
        each.stream().map(RunResult::idle).reduce(MemoryUse::plus).orElse(MemoryUse.UNKNOWN),
        each.stream().map(RunResult::peak).reduce(MemoryUse::plus).orElse(MemoryUse.UNKNOWN),
        each.get(0).checksum,
        each.stream()
            .flatMap(one -> one.counters.entrySet().stream())
            .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue, Long::sum)),
        List.of());
  }

  private static long most(List<RunResult> each, ToLongFunction<RunResult> figure) {
    return each.stream().mapToLong(figure).max().orElse(-1);
  }

  /** Unknown if it is unknown of one of them. */
  private static long sum(List<RunResult> each, ToLongFunction<RunResult> figure) {
    boolean known = each.stream().mapToLong(figure).allMatch(value -> value >= 0);
    return known ? each.stream().mapToLong(figure).sum() : -1;
  }

  /** Whether it has figures. */
  @JsonIgnore
  public boolean isOk() {
    return status == Status.OK;
  }
}
