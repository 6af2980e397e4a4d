// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.raw;

import io.s3e.block.ByteRange;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Gives the bytes of one range their positions and counts them. One call at a time. */
final class RangeSink {

  private final ByteRange range;
  private final ByteSink sink;
  private long position;

  RangeSink(ByteRange range, ByteSink sink) {
    this.range = range;
    this.sink = sink;
    this.position = range.start();
  }

  void accept(ByteBuffer bytes) throws IOException {
    int count = bytes.remaining();
    if (count > range.end() - position) {
      throw new IOException("more bytes than asked for in " + range);
    }
    sink.accept(position, bytes);
    position += count;
  }

  /**
   * @throws EOFException when the body ended early
   */
  void checkComplete() throws EOFException {
    if (position != range.end()) {
      throw new EOFException("the body of " + range + " ended at " + position);
    }
  }
}
