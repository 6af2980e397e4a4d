// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Gives every answer its {@link ShapedWriter}. Holds what all connections have in common: the
 * number of reads so far, which picks the wait of the next, and the link that they share. Any
 * thread.
 */
final class Shaper {

  private static final SharedLink UNLIMITED = new SharedLink(0, 0);

  private final Shape shape;
  private final SharedLink link;
  private final AtomicLong reads = new AtomicLong();

  Shaper(Shape shape) {
    this.shape = shape;
    this.link = new SharedLink(shape.totalBytesPerSecond(), System.nanoTime());
  }

  /**
   * Waits until the answer may begin.
   *
   * @param arrivedNanos when the request had arrived, by {@link System#nanoTime}
   */
  ShapedWriter begin(Wire client, Operation operation, long arrivedNanos) {
    if (!operation.isRead()) {
      return new ShapedWriter(client, 0, UNLIMITED, arrivedNanos);
    }
    long wait = shape.firstByte().nanosOf(reads.getAndIncrement());
    return new ShapedWriter(client, shape.bytesPerSecond(), link, arrivedNanos + wait);
  }
}
