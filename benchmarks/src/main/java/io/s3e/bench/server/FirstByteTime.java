// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

/**
 * How long answers to reads let their first byte wait. The wait of the nth read is
 *
 * <pre>
 *   wait(n) = (base + jitter · u(n)) · (v(n) &lt; tailProbability ? tailFactor : 1)
 * </pre>
 *
 * where u is uniform over [-1, 1) and v over [0, 1), both functions of the seed and of n alone: the
 * same run of requests meets the same waits, whichever thread serves them. Immutable; any thread.
 *
 * @param baseNanos mean wait without a tail
 * @param jitterNanos largest deviation from the base; at most the base
 * @param tailProbability share of the reads that wait longer, 0 to 1
 * @param tailFactor how much longer these wait, at least 1
 * @param seed what picks the waits
 */
public record FirstByteTime(
    long baseNanos, long jitterNanos, double tailProbability, double tailFactor, long seed) {

  /** No wait at all. */
  public static final FirstByteTime NONE = new FirstByteTime(0, 0, 0, 1, 0);

  /** The fractional part of the golden ratio as 64 bits: the increment of SplitMix64. */
  private static final long GOLDEN_GAMMA = 0x9E3779B97F4A7C15L;

  private static final double TWO_TO_53 = 0x1p53;

  public FirstByteTime {
    if (baseNanos < 0) {
      throw new IllegalArgumentException("baseNanos must be at least 0 and is " + baseNanos);
    }
    if (jitterNanos < 0 || jitterNanos > baseNanos) {
      throw new IllegalArgumentException(
          "jitterNanos must be between 0 and baseNanos, " + baseNanos + ", and is " + jitterNanos);
    }
    if (!(tailProbability >= 0 && tailProbability <= 1)) {
      throw new IllegalArgumentException(
          "tailProbability must be between 0 and 1 and is " + tailProbability);
    }
    if (!(tailFactor >= 1 && Double.isFinite(tailFactor))) {
      throw new IllegalArgumentException("tailFactor must be at least 1 and is " + tailFactor);
    }
  }

  /** The same wait for every read. */
  public static FirstByteTime constant(long nanos) {
    return new FirstByteTime(nanos, 0, 0, 1, 0);
  }

  /** Wait of the {@code number}th read, in nanoseconds. */
  long nanosOf(long number) {
    double jitter = jitterNanos * (2 * uniform(2 * number) - 1);
    boolean tail = uniform(2 * number + 1) < tailProbability;
    return Math.round((baseNanos + jitter) * (tail ? tailFactor : 1));
  }

  /** The {@code index}th number of SplitMix64, as a double in [0, 1). */
  private double uniform(long index) {
    long z = seed + (index + 1) * GOLDEN_GAMMA;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    z ^= z >>> 31;
    return (z >>> 11) / TWO_TO_53;
  }
}
