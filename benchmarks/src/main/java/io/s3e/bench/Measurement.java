package io.s3e.bench;

import com.fasterxml.jackson.annotation.JsonIgnore;
import io.s3e.bench.server.Operation;
import io.s3e.bench.server.ServerStats;
import io.s3e.bench.workload.MemoryUse;
import io.s3e.bench.workload.RunResult;
import java.util.List;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * One counted run of one engine, or one pass of it: what the engine's process measured, or its
 * processes together, and what the server saw. Figures are NaN where nobody measured.
 *
 * @param engine name of the engine
 * @param workload label of the workload
 * @param round from 1
 * @param pass from 1
 * @param result the engine's side
 * @param processes the same of each process, if it took several; else empty
 * @param server what the server did for it; null when the server is somebody else's
 */
public record Measurement(
    String engine,
    String workload,
    int round,
    int pass,
    RunResult result,
    List<RunResult> processes,
    @Nullable ServerStats server) {

  public Measurement {
    processes = List.copyOf(processes);
  }

  private static final double MEBIBYTE = 1 << 20;

  /** Bytes used a second, in MB/s (10^6); NaN for a failed run. */
  public double megabytesPerSecond() {
    return result.isOk() ? result.bytesUsed() * 1e3 / result.wallNanos() : Double.NaN;
  }

  /** From the first open to the last close; of several processes that of the slowest. */
  public double seconds() {
    return measured(result.wallNanos()) / 1e9;
  }

  /** Body bytes of GETs that the server sent, in MB (10^6). */
  public double fetchedMegabytes() {
    return server == null ? Double.NaN : server.of(Operation.GET_OBJECT).bytesSent() / 1e6;
  }

  /** Bytes that the server sent for each byte that one of the processes used. */
  public double fetchedPerObject() {
    return fetchedPerUsed() * Math.max(1, processes.size());
  }

  /** GETs of objects. */
  @JsonIgnore // Its name looks like a bean's getter.
  public double gets() {
    return server == null ? Double.NaN : server.of(Operation.GET_OBJECT).requests();
  }

  /** HEADs of objects. */
  public double heads() {
    return server == null ? Double.NaN : server.of(Operation.HEAD_OBJECT).requests();
  }

  /** Bytes that the server sent for each byte used. */
  public double fetchedPerUsed() {
    return server == null || result.bytesUsed() <= 0
        ? Double.NaN
        : (double) server.of(Operation.GET_OBJECT).bytesSent() / result.bytesUsed();
  }

  /** Calls of the application that waited for the store. */
  public double waits() {
    return measured(result.waits());
  }

  /** Processor seconds of the engine's process for each GB (10^9) used. */
  public double clientCpuPerGigabyte() {
    return perByte(result.cpuNanos());
  }

  /** The same of the server's process. */
  public double serverCpuPerGigabyte() {
    return server == null ? Double.NaN : perByte(server.cpuNanos());
  }

  /** MB of heap allocated for each GB used. */
  public double allocatedMegabytesPerGigabyte() {
    return perByte(result.allocatedBytes()) * 1e3;
  }

  /** Nanoseconds a byte are seconds a GB. */
  private double perByte(long amount) {
    return amount < 0 || result.bytesUsed() <= 0
        ? Double.NaN
        : (double) amount / result.bytesUsed();
  }

  public double p50Millis() {
    return measured(result.readP50Nanos()) / 1e6;
  }

  public double p99Millis() {
    return measured(result.readP99Nanos()) / 1e6;
  }

  /** Most memory of the engine's process: heap in use, direct, classes and code, native. */
  public double peakMebibytes() {
    return measured(result.peak().total()) / MEBIBYTE;
  }

  public double peakHeapMebibytes() {
    return measured(result.peak().heap()) / MEBIBYTE;
  }

  public double peakDirectMebibytes() {
    return measured(result.peak().direct()) / MEBIBYTE;
  }

  /** Most native memory, above what the process had before it read anything. */
  public double nativeGrowthMebibytes() {
    return growth(MemoryUse::other);
  }

  private double growth(ToLongFunction<MemoryUse> part) {
    long peak = part.applyAsLong(result.peak());
    long idle = part.applyAsLong(result.idle());
    return peak < 0 || idle < 0 ? Double.NaN : Math.max(0, peak - idle) / MEBIBYTE;
  }

  private static double measured(long value) {
    return value < 0 ? Double.NaN : value;
  }
}
