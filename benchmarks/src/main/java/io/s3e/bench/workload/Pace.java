// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import java.io.InterruptedIOException;
import java.util.concurrent.locks.LockSupport;

/**
 * How fast the consumer of row groups is. It takes no processor time: its thread is parked, as a
 * task's that waits for somebody else.
 *
 * @param bytesPerSecond of the columns' bytes, as they are stored
 */
record Pace(double bytesPerSecond) {

  /** Takes what comes at once. */
  static final Pace UNBOUND = new Pace(Double.POSITIVE_INFINITY);

  /** Of 10^6 bytes a second. */
  static Pace megabytes(int perSecond) {
    return new Pace(perSecond * 1e6);
  }

  boolean isBound() {
    return Double.isFinite(bytesPerSecond);
  }

  /** Waits until the consumer is done with bytes that came at a time. */
  void consume(long bytes, long arrivedNanos) throws InterruptedIOException {
    long nanos = (long) (bytes * 1e9 / bytesPerSecond);
    for (; ; ) {
      long left = arrivedNanos + nanos - System.nanoTime();
      if (left <= 0) {
        return;
      }
      LockSupport.parkNanos(this, left);
      if (Thread.interrupted()) {
        throw new InterruptedIOException("The consumer of " + bytes + " bytes was interrupted");
      }
    }
  }
}
