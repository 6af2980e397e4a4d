// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import java.time.Duration;

/**
 * How long an engine runs a workload before it is counted, and how much in each run: until its time
 * is over, or, where a run may be steady, until one is. A run is steady whose rate is as good as
 * that of the run before, and in which the JVM's compilers took little of the machine: two runs of
 * a JVM that is compiled little by little are alike, and far from what the last of them is. An
 * engine that waits for the store most of the time is steady while its JVM still compiles, for that
 * takes nothing from it. Of a JVM that has run the same before, any run is steady. One thread.
 */
final class WarmUpRuns {

  /**
   * A JVM whose compilers take a larger part of all processors than so many times what steady runs
   * differ by is not warm.
   */
  private static final int MOST_OF_COMPILERS = 2;

  private final double steadyShare;
  private final boolean isWarm;
  private final int processors;
  private final long mostBytes;

  private long leftNanos;
  private long leftBytes;
  private long bytes;
  private double before = Double.NaN;
  private boolean isOver;

  /**
   * @param time how long at least; at most, where a run may be steady
   * @param steadyShare by how much of its rate a steady run differs from the one before; 0 where no
   *     run ends the warm-up
   * @param isWarm whether the JVM has run the workload before
   * @param leastBytes how much is read at least
   * @param firstBytes how much the first run reads
   * @param mostBytes how much a run reads at most
   * @param processors of the machine
   */
  WarmUpRuns(
      Duration time,
      double steadyShare,
      boolean isWarm,
      long leastBytes,
      long firstBytes,
      long mostBytes,
      int processors) {
    this.leftNanos = time.toNanos();
    this.steadyShare = steadyShare;
    this.isWarm = isWarm;
    this.leftBytes = leastBytes;
    this.bytes = firstBytes;
    this.mostBytes = mostBytes;
    this.processors = processors;
  }

  /** How many bytes the next run reads. */
  long bytes() {
    return bytes;
  }

  /** Whether what comes next is counted. */
  boolean isOver() {
    return isOver;
  }

  /**
   * Takes in a run.
   *
   * @param wallNanos how long it took
   * @param usedBytes how much it read
   * @param compilerNanos processor time of the JVM's compilers in it; negative where nobody knows
   */
  void ran(long wallNanos, long usedBytes, long compilerNanos) {
    double rate = (double) usedBytes / Math.max(1, wallNanos);
    double compilers = (double) compilerNanos / Math.max(1, wallNanos) / processors;
    boolean isSteady =
        steadyShare > 0
            && (isWarm
                || (Math.abs(rate / before - 1) <= steadyShare
                    && compilers <= MOST_OF_COMPILERS * steadyShare));
    isOver = (wallNanos >= leftNanos || isSteady) && usedBytes >= leftBytes;
    before = rate;
    leftNanos = Math.max(0, leftNanos - wallNanos);
    leftBytes = Math.max(0, leftBytes - usedBytes);
    long more = Math.max(leftBytes, (long) (rate * leftNanos));
    // By doubling, so that a slow engine shows early that it is steady.
    bytes = Math.min(mostBytes, Math.min(2 * bytes, Math.max(bytes, more)));
  }
}
