// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of one version of a file as memory, for what has to be encrypted: it saves the copy out
 * of the page cache. Mapped in segments when they are first asked for, unmapped when nobody refers
 * to them any more. The file must not be truncated, which the store does not do. Any thread.
 */
final class MappedFile {

  /** A buffer cannot be longer than 2 GiB. */
  private static final long SEGMENT_BYTES = 1L << 30;

  private final long length;
  private @Nullable ByteBuffer[] segments = new ByteBuffer[0];

  MappedFile(long length) {
    this.length = length;
  }

  /**
   * A view of the bytes at {@code position}.
   *
   * @param channel the file, open
   * @param most largest number of bytes wanted
   * @return at least one byte; less than {@code most} only where a segment or the file ends
   * @throws EOFException when the file has no byte there
   */
  ByteBuffer view(FileChannel channel, long position, int most) throws IOException {
    if (position >= length) {
      throw new EOFException("The file ends at " + length + " and has no byte " + position);
    }
    ByteBuffer segment = segment(channel, (int) (position / SEGMENT_BYTES));
    int offset = (int) (position % SEGMENT_BYTES);
    return segment.slice(offset, Math.min(most, segment.capacity() - offset));
  }

  private synchronized ByteBuffer segment(FileChannel channel, int index) throws IOException {
    if (segments.length <= index) {
      segments = Arrays.copyOf(segments, index + 1);
    }
    ByteBuffer segment = segments[index];
    if (segment == null) {
      long start = index * SEGMENT_BYTES;
      long count = Math.min(SEGMENT_BYTES, length - start);
      segment = channel.map(FileChannel.MapMode.READ_ONLY, start, count);
      segments[index] = segment;
    }
    return segment;
  }
}
