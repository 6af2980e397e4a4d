// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import com.fasterxml.jackson.annotation.JsonIgnore;
import io.s3e.bench.server.Operation;
import io.s3e.bench.server.ServerStats;
import io.s3e.bench.workload.MemoryUse;
import io.s3e.bench.workload.Part;
import io.s3e.bench.workload.RunResult;
import io.s3e.hadoop.cost.Prices;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import java.util.stream.DoubleStream;
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

  private static final double DOLLARS_A_REQUEST = Prices.LIST.thousandRequests() / 1000;
  private static final double DOLLARS_A_SECOND = Prices.LIST.vcpuHour() / 3600;

  /**
   * Bytes used a second, in MB/s (10^6), in a workload of parts those of its last; NaN for a failed
   * run.
   */
  public double megabytesPerSecond() {
    List<Part> parts = result.parts();
    if (!parts.isEmpty()) {
      return parts.get(parts.size() - 1).megabytesPerSecond();
    }
    return result.isOk() ? result.bytesUsed() * 1e3 / result.wallNanos() : Double.NaN;
  }

  private DoubleStream of(Part.Kind kind, ToDoubleFunction<Part> figure) {
    return result.parts().stream().filter(part -> part.kind() == kind).mapToDouble(figure);
  }

  private double one(Part.Kind kind, ToDoubleFunction<Part> figure) {
    return of(kind, figure).findFirst().orElse(Double.NaN);
  }

  private double rate(Part.Kind kind) {
    return one(kind, Part::megabytesPerSecond);
  }

  /** From an open until the first byte is there. */
  public double firstByteMillis() {
    return one(Part.Kind.FIRST_BYTE, part -> part.wallNanos() / 1e6);
  }

  /** Rate of the row groups after the first, at the pace of their consumer. */
  public double afterFirstGroupMegabytesPerSecond() {
    return rate(Part.Kind.AFTER_FIRST_GROUP);
  }

  /** Rate of the first of several file systems, the others not open yet. */
  public double firstScanMegabytesPerSecond() {
    return rate(Part.Kind.IN_TURN);
  }

  /**
   * Median rate of the scans of several file systems, one after the other, to that of the first.
   */
  public double medianScanToFirst() {
    double[] rates = of(Part.Kind.IN_TURN, Part::megabytesPerSecond).sorted().toArray();
    int middle = rates.length / 2;
    return rates.length == 0
        ? Double.NaN
        : (rates[middle] + rates[(rates.length - 1) / 2]) / 2 / firstScanMegabytesPerSecond();
  }

  /** The slowest of these scans to the first. */
  public double leastScanToFirst() {
    return of(Part.Kind.IN_TURN, Part::megabytesPerSecond).min().orElse(Double.NaN)
        / firstScanMegabytesPerSecond();
  }

  /** Rate of all file systems at once to that of the first. */
  public double togetherToFirst() {
    return rate(Part.Kind.TOGETHER) / firstScanMegabytesPerSecond();
  }

  /** Rate of a scan beside which nothing happens. */
  public double scanAloneMegabytesPerSecond() {
    return rate(Part.Kind.SCAN_ALONE);
  }

  /** Rate of a disturbed scan to that of one alone. */
  public double scanToAlone() {
    return rate(Part.Kind.SCAN_DISTURBED) / scanAloneMegabytesPerSecond();
  }

  /** Median time of a positioned read beside which nothing happens. */
  public double p50AloneMillis() {
    return one(Part.Kind.READS_ALONE, part -> part.readP50Nanos() / 1e6);
  }

  /** Median time of a disturbed read to that of one alone. */
  public double p50ToAlone() {
    return one(Part.Kind.READS_DISTURBED, part -> part.readP50Nanos() / 1e6) / p50AloneMillis();
  }

  /** 99th percentile of the time of a positioned read beside which nothing happens. */
  public double p99AloneMillis() {
    return one(Part.Kind.READS_ALONE, part -> part.readP99Nanos() / 1e6);
  }

  /** The same of disturbed reads to that of those alone. */
  public double p99ToAlone() {
    return one(Part.Kind.READS_DISTURBED, part -> part.readP99Nanos() / 1e6) / p99AloneMillis();
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

  /** GETs of objects for each GB (10^9) used. */
  @JsonIgnore
  public double getsPerGigabyte() {
    return result.bytesUsed() <= 0 ? Double.NaN : gets() * 1e9 / result.bytesUsed();
  }

  /**
   * What reading a TB (10^12) costs in USD: GETs and HEADs of objects, processor time of the
   * engine's process, and the time that the application's slots were in calls that read.
   */
  public double dollarsPerTerabyte() {
    double blocked = Math.max(0, result.blockedNanos()) / 1e9;
    return requestDollarsPerTerabyte()
        + perTerabyte((clientCpuSeconds() + blocked) * DOLLARS_A_SECOND);
  }

  /** The part of it that is for GETs and HEADs. */
  public double requestDollarsPerTerabyte() {
    return perTerabyte((gets() + heads()) * DOLLARS_A_REQUEST);
  }

  private double perTerabyte(double amount) {
    return result.bytesUsed() <= 0 ? Double.NaN : amount * 1e12 / result.bytesUsed();
  }

  /** Bytes that the server sent for each byte used. */
  public double fetchedPerUsed() {
    return server == null || result.bytesUsed() <= 0
        ? Double.NaN
        : (double) server.of(Operation.GET_OBJECT).bytesSent() / result.bytesUsed();
  }

  /** Time of the application's threads in calls that open and read files. */
  public double blockedMillis() {
    return measured(result.blockedNanos()) / 1e6;
  }

  /** The same for each row group, or stripe, that was read. */
  public double blockedMillisPerGroup() {
    return result.groups() <= 0 ? Double.NaN : blockedMillis() / result.groups();
  }

  /** Calls of the application that waited for the store. */
  public double waits() {
    return measured(result.waits());
  }

  /** Processor seconds of the engine's process for each GB (10^9) used. */
  public double clientCpuPerGigabyte() {
    return perByte(result.cpuNanos());
  }

  /** Processor seconds of the engine's process in the whole run. */
  public double clientCpuSeconds() {
    return measured(result.cpuNanos()) / 1e9;
  }

  /** Processor seconds of the server's process for each GB used. */
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
