// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.history;

/**
 * How long tasks were blocked in reads of tables that a history tells of.
 *
 * @param tasks how many
 * @param seconds in all
 * @param squares the sum of their squares, in s²
 */
public record Blocked(long tasks, double seconds, double squares) {
  public static final Blocked NONE = new Blocked(0, 0, 0);

  static Blocked task(double seconds) {
    return new Blocked(1, seconds, seconds * seconds);
  }

  Blocked plus(Blocked other) {
    return new Blocked(tasks + other.tasks, seconds + other.seconds, squares + other.squares);
  }

  /** Seconds a task; 0 without tasks. */
  double mean() {
    return tasks == 0 ? 0 : seconds / tasks;
  }

  /** The variance of {@link #mean}, as a share of its square; needs two tasks and a mean. */
  double relativeVariance() {
    double mean = mean();
    double ofTask = Math.max(0, (squares - seconds * mean) / (tasks - 1));
    return ofTask / tasks / (mean * mean);
  }

  /** Whether tasks can have been blocked so. */
  boolean isPossible() {
    return tasks >= 0
        && tasks <= Integer.MAX_VALUE
        && seconds >= 0
        && squares >= 0
        && Double.isFinite(seconds)
        && Double.isFinite(squares);
  }
}
