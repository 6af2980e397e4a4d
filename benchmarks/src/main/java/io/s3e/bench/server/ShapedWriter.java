// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Writes one answer at the pace of a {@link Shape}: nothing before the time to first byte is over,
 * then chunks as they fall due on the connection's own timetable and on that of the link which all
 * share. One thread; borrows the wire.
 */
final class ShapedWriter {

  /** Small enough that a 256 KiB read is paced, large enough that sleeping costs little. */
  static final int CHUNK_BYTES = 256 * 1024;

  /**
   * A thread that had to wait for a processor for some slices of the scheduler loses nothing. At 60
   * MB/s it is a burst of less than 2 MB: less than what a receive window holds ready for a reader
   * that paused.
   */
  static final long CATCH_UP_NANOS = TimeUnit.MILLISECONDS.toNanos(32);

  private final Wire client;
  private final Pacer pacer;
  private final SharedLink link;
  private long written;

  /** Waits until {@code firstByteNanos}, by {@link System#nanoTime}. */
  ShapedWriter(Wire client, long bytesPerSecond, SharedLink link, long firstByteNanos) {
    this.client = client;
    this.pacer = new Pacer(bytesPerSecond, CATCH_UP_NANOS, firstByteNanos);
    this.link = link;
    sleep(firstByteNanos - System.nanoTime());
  }

  /** Body bytes that the kernel has taken. */
  long written() {
    return written;
  }

  /** Writes a head: not paced and not counted. */
  void writeHead(byte[] head) throws IOException {
    client.write(ByteBuffer.wrap(head));
  }

  /** Writes all that remains in {@code piece} as part of the body. */
  void writeBody(ByteBuffer piece) throws IOException {
    int length = piece.remaining();
    pace(length);
    client.write(piece);
    written += length;
  }

  /** Sends a span of an object as the body. */
  void transfer(ObjectFiles.OpenObject object, ByteSpan span) throws IOException {
    long position = span.start();
    long end = span.start() + span.length();
    while (position < end) {
      int chunk = (int) Math.min(CHUNK_BYTES, end - position);
      pace(chunk);
      client.transfer(object, position, chunk);
      position += chunk;
      written += chunk;
    }
  }

  /**
   * Waits for the connection first: a chunk that it could not send yet must not take a turn on the
   * shared link.
   */
  private void pace(int bytes) {
    sleep(pacer.delayBefore(bytes, System.nanoTime()));
    sleep(link.delayBefore(bytes, System.nanoTime()));
  }

  private static void sleep(long nanos) {
    if (nanos <= 0) {
      return;
    }
    long deadline = System.nanoTime() + nanos;
    for (long left = nanos; left > 0; left = deadline - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }
}
