package io.s3e.bench;

import io.s3e.bench.server.Operation;
import io.s3e.bench.server.ServerStats;
import io.s3e.bench.workload.RunResult;
import org.jspecify.annotations.Nullable;

/**
 * One counted run of one engine: what the engine's process measured and what the server saw.
 *
 * @param engine name of the engine
 * @param workload label of the workload
 * @param round from 1
 * @param result the engine's side
 * @param server what the server did for it; null when the server is somebody else's
 */
public record Measurement(
    String engine, String workload, int round, RunResult result, @Nullable ServerStats server) {

  /** Bytes used a second, in MB/s (10^6); NaN for a failed run. */
  public double megabytesPerSecond() {
    return result.isOk() ? result.bytesUsed() * 1e3 / result.wallNanos() : Double.NaN;
  }

  /** GETs of objects; NaN when nobody counted. */
  public double gets() {
    return server == null ? Double.NaN : server.of(Operation.GET_OBJECT).requests();
  }

  /** Bytes that the server sent for each byte used. */
  public double fetchedPerUsed() {
    return server == null || result.bytesUsed() <= 0
        ? Double.NaN
        : (double) server.of(Operation.GET_OBJECT).bytesSent() / result.bytesUsed();
  }

  /** Processor seconds of the engine's process for each GB (10^9) used. */
  public double clientCpuPerGigabyte() {
    return perGigabyte(result.cpuNanos());
  }

  /** The same of the server's process. */
  public double serverCpuPerGigabyte() {
    return server == null ? Double.NaN : perGigabyte(server.cpuNanos());
  }

  private double perGigabyte(long nanos) {
    return nanos < 0 || result.bytesUsed() <= 0 ? Double.NaN : (double) nanos / result.bytesUsed();
  }

  public double p50Millis() {
    return result.readP50Nanos() < 0 ? Double.NaN : result.readP50Nanos() / 1e6;
  }

  public double p99Millis() {
    return result.readP99Nanos() < 0 ? Double.NaN : result.readP99Nanos() / 1e6;
  }

  /** Most anonymous memory of the engine's process in MiB: heap, direct and native together. */
  public double peakResidentMebibytes() {
    return mebibytes(result.peakResidentBytes());
  }

  public double peakHeapMebibytes() {
    return mebibytes(result.peakHeapBytes());
  }

  public double peakDirectMebibytes() {
    return mebibytes(result.peakDirectBytes());
  }

  private static double mebibytes(long bytes) {
    return bytes < 0 ? Double.NaN : bytes / (double) (1 << 20);
  }
}
