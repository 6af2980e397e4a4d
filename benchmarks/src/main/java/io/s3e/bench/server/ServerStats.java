// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.EnumMap;
import java.util.Map;

/**
 * The server's work since it started.
 *
 * @param operations counts of every operation that was asked for at least once
 * @param relayedGets object GETs that S3Proxy answered instead of the front
 * @param activeRequests requests being answered at this moment
 * @param cpuNanos processor time of the server's process, user and system; -1 when the JVM cannot
 *     tell
 */
public record ServerStats(
    Map<Operation, Counts> operations, long relayedGets, int activeRequests, long cpuNanos) {

  /**
   * Counts of one operation.
   *
   * @param requests requests whose head arrived
   * @param failures answers of status 400 and above
   * @param aborted answers that could not be completed
   * @param bytesReceived request bodies, as framed on the wire
   * @param bytesSent response bodies, as handed to the kernel
   */
  public record Counts(
      long requests, long failures, long aborted, long bytesReceived, long bytesSent) {
    private static final Counts NONE = new Counts(0, 0, 0, 0, 0);

    private Counts minus(Counts earlier) {
      return new Counts(
          requests - earlier.requests,
          failures - earlier.failures,
          aborted - earlier.aborted,
          bytesReceived - earlier.bytesReceived,
          bytesSent - earlier.bytesSent);
    }
  }

  /** Counts of one operation; zeros when it was never asked for. */
  public Counts of(Operation operation) {
    return operations.getOrDefault(operation, Counts.NONE);
  }

  /** The work after {@code earlier}; {@link #activeRequests} stays that of this snapshot. */
  public ServerStats since(ServerStats earlier) {
    Map<Operation, Counts> difference = new EnumMap<>(Operation.class);
    operations.forEach(
        (operation, counts) -> difference.put(operation, counts.minus(earlier.of(operation))));
    return new ServerStats(
        difference,
        relayedGets - earlier.relayedGets,
        activeRequests,
        cpuNanos < 0 || earlier.cpuNanos < 0 ? -1 : cpuNanos - earlier.cpuNanos);
  }

  static long processCpuNanos() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean os
        ? os.getProcessCpuTime()
        : -1;
  }
}
