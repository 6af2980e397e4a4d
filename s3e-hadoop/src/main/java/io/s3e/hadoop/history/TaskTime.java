// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.history;

/**
 * How long one task was blocked in reads of tables that the history tells of, and whether it is one
 * of those that run without. Any thread.
 */
final class TaskTime {
  private static final double NANOS_PER_SECOND = 1e9;

  final boolean isControl;

  // Guarded by this.
  private long nanos;

  TaskTime(boolean isControl) {
    this.isControl = isControl;
  }

  synchronized void blocked(long more) {
    nanos += Math.max(0, more);
  }

  synchronized Blocked total() {
    return Blocked.task(nanos / NANOS_PER_SECOND);
  }
}
