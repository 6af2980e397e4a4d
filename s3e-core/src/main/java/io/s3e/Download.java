// SPDX-License-Identifier: Apache-2.0
package io.s3e;

import io.s3e.block.ByteRange;
import io.s3e.stream.S3EInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;

/**
 * Moves a range of an object to where the caller wants it. As many GETs are kept in flight as
 * memory allows; their bytes are handed over in order, on the calling thread.
 */
final class Download {
  /** Bytes handed over at once, and between two looks at what else could be asked for. */
  private static final int CHUNK_BYTES = 1 << 20;

  private Download() {}

  /** Starts GETs {@code aheadBytes} ahead; memory may stop them earlier. */
  static void transfer(
      S3EInputStream in,
      ByteRange range,
      long aheadBytes,
      WritableByteChannel target,
      ProgressListener progress)
      throws IOException {
    if (range.end() > in.size()) {
      throw new EOFException("Range " + range + " goes behind the end of " + in);
    }
    ByteBuffer chunk = ByteBuffer.allocateDirect((int) Math.min(CHUNK_BYTES, range.length()));
    long asked = range.start();
    for (long at = range.start(); at < range.end(); ) {
      chunk.clear().limit((int) Math.min(chunk.capacity(), range.end() - at));
      at += chunk.remaining();
      // What was asked for is not looked for again: there may be gigabytes of it.
      long from = Math.max(asked, at - chunk.remaining());
      asked =
          in.willRead(new ByteRange(from, Math.max(from, Math.min(range.end(), at + aheadBytes))));
      in.readFullyAt(at - chunk.remaining(), chunk);
      chunk.flip();
      while (chunk.hasRemaining()) {
        target.write(chunk);
      }
      progress.onProgress(at - range.start(), range.length());
    }
  }
}
