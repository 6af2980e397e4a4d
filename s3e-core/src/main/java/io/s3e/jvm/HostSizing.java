// SPDX-License-Identifier: Apache-2.0
package io.s3e.jvm;

/**
 * The defaults that follow the host: pure arithmetic, explained and simulated in docs/SCALING.md.
 * Up to 25 processors and 8 GiB of heap they are constants but for the memory, and for event loops,
 * of which the CRT makes no more than there are processors.
 *
 * <p>A connection that brings 60 MB/s after 30 ms brings 42 MB/s in GETs of 4 MiB, so that each
 * Gbit/s has 12 MiB in flight. Transports own five eighths of the budget: 20 MiB for each Gbit/s.
 */
public record HostSizing(int processors, long heapBytes, long directBytes) {
  private static final long MIB = 1L << 20;

  private static final double LEAST_GBPS = 25;
  private static final double MOST_GBPS = 100;

  private static final long LEAST_MEMORY = 64 * MIB;
  private static final long SMALL_HOST_MEMORY = 256 * MIB;
  private static final double MEMORY_PER_GBPS = 20 * MIB;

  private static final int LEAST_CONNECTIONS = 64;
  private static final int MOST_CONNECTIONS = 4096;

  /** The CRT's own arithmetic: it opens no more than one connection for each of these. */
  private static final double GBPS_PER_CONNECTION = 0.4;

  private static final int LEAST_EVENT_LOOPS = 8;
  private static final int MOST_EVENT_LOOPS = 256;

  /** Over TLS a thread is busy for half of its time at that rate: 0.7 s a GB. */
  private static final double GBPS_PER_EVENT_LOOP = 6;

  public static HostSizing ofThisJvm() {
    Runtime runtime = Runtime.getRuntime();
    return new HostSizing(
        runtime.availableProcessors(), runtime.maxMemory(), JvmMemory.MAX_DIRECT_BYTES);
  }

  /** Throughput that the host is worth, in Gbit/s: one for each processor, 25 to 100. */
  public double targetGbps() {
    return Math.min(MOST_GBPS, Math.max(LEAST_GBPS, processors));
  }

  /**
   * The memory budget in bytes: an eighth of the heap up to 256 MiB, and beyond that 20 MiB for
   * each Gbit/s of the target as far as a 32nd of the heap goes; at least 64 MiB, at most half of
   * direct memory. An eighth of a small heap, a 32nd of a large one: both fit the 10 % (at least
   * 384 MiB) that Spark and YARN add for overhead.
   */
  public long memoryBytes(double targetGbps) {
    long small = Math.min(heapBytes / 8, SMALL_HOST_MEMORY);
    long large = Math.min(heapBytes / 32, (long) (targetGbps * MEMORY_PER_GBPS));
    return Math.min(directBytes / 2, Math.max(LEAST_MEMORY, Math.max(small, large)));
  }

  /**
   * The memory budget in bytes that applies where {@code wantedBytes} are wanted: at most half of
   * direct memory, of which the application needs its part, and at least {@code leastBytes}.
   */
  public long appliedBytes(long wantedBytes, long leastBytes) {
    return Math.max(leastBytes, Math.min(wantedBytes, directBytes / 2));
  }

  /** Connections for that throughput; 64 to 4096. */
  public static int connections(double targetGbps) {
    return clamp(targetGbps / GBPS_PER_CONNECTION, LEAST_CONNECTIONS, MOST_CONNECTIONS);
  }

  /** Native network threads for that throughput, of which there are no more than processors. */
  public static int eventLoops(double targetGbps) {
    return clamp(targetGbps / GBPS_PER_EVENT_LOOP, LEAST_EVENT_LOOPS, MOST_EVENT_LOOPS);
  }

  private static int clamp(double wanted, int least, int most) {
    return (int) Math.max(least, Math.min(most, Math.ceil(wanted)));
  }
}
