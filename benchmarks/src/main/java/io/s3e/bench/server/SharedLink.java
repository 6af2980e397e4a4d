// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import java.util.concurrent.TimeUnit;

/**
 * The bandwidth that all connections share. Any thread.
 *
 * <p>Chunks are sent in the order in which they were booked. A connection books one chunk, waits,
 * sends it, and only then books the next, so that those which have something to send take turns and
 * get equal shares; what one cannot use, because it is slower or idle, goes to the others.
 */
final class SharedLink {

  /** Small: a link that was idle has nothing to make up for. */
  private static final long CATCH_UP_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private final Pacer pacer;

  /**
   * @param bytesPerSecond bandwidth; 0 means unlimited
   * @param startNanos the clock at this moment
   */
  SharedLink(long bytesPerSecond, long startNanos) {
    this.pacer = new Pacer(bytesPerSecond, CATCH_UP_NANOS, startNanos);
  }

  /** See {@link Pacer#delayBefore}. */
  synchronized long delayBefore(long bytes, long nowNanos) {
    return pacer.delayBefore(bytes, nowNanos);
  }
}
