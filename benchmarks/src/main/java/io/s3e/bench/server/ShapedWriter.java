package io.s3e.bench.server;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.locks.LockSupport;

/**
 * Writes one answer at the pace of a {@link Shape}: nothing before the time to first byte is over,
 * then chunks as they fall due. One thread; borrows the channel.
 */
final class ShapedWriter {

  /** Small enough that a 256 KiB read is paced, large enough that sleeping costs little. */
  static final int CHUNK_BYTES = 256 * 1024;

  private final SocketChannel client;
  private final Pacer pacer;
  private long written;

  /**
   * @param requestNanos when the request had arrived, by {@link System#nanoTime}
   */
  ShapedWriter(SocketChannel client, Shape shape, long requestNanos) {
    this.client = client;
    long firstByte = requestNanos + shape.timeToFirstByte().toNanos();
    this.pacer = new Pacer(shape.bytesPerSecond(), firstByte);
    sleep(firstByte - System.nanoTime());
  }

  /** Body bytes that the kernel has taken. */
  long written() {
    return written;
  }

  /** Writes a head: not paced and not counted. */
  void writeHead(byte[] head) throws IOException {
    ByteBuffer buffer = ByteBuffer.wrap(head);
    while (buffer.hasRemaining()) {
      client.write(buffer);
    }
  }

  /** Writes all that remains in {@code piece} as part of the body. */
  void writeBody(ByteBuffer piece) throws IOException {
    sleep(pacer.delayBefore(piece.remaining(), System.nanoTime()));
    while (piece.hasRemaining()) {
      written += client.write(piece);
    }
  }

  /** Sends a span of a file as the body, without a copy through this process. */
  void transfer(FileChannel file, ByteSpan span) throws IOException {
    long position = span.start();
    long end = span.start() + span.length();
    while (position < end) {
      long chunkEnd = Math.min(position + CHUNK_BYTES, end);
      sleep(pacer.delayBefore(chunkEnd - position, System.nanoTime()));
      while (position < chunkEnd) {
        long sent = file.transferTo(position, chunkEnd - position, client);
        if (sent <= 0) {
          throw new EOFException("File ended at " + position + ", before the span's end " + end);
        }
        position += sent;
        written += sent;
      }
    }
  }

  private static void sleep(long nanos) {
    long deadline = System.nanoTime() + nanos;
    for (long left = nanos; left > 0; left = deadline - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }
}
