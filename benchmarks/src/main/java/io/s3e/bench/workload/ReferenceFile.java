// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import io.s3e.bench.data.ObjectSlice;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * A local file that the objects are slices of, mapped, to compare with what a stream returned. Any
 * thread. The mapping is counted as file pages, not as memory of the process that reads.
 */
final class ReferenceFile {

  private static final long SEGMENT_BYTES = 1L << 30;

  private final List<MappedByteBuffer> segments = new ArrayList<>();
  private final long length;

  ReferenceFile(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      length = channel.size();
      for (long start = 0; start < length; start += SEGMENT_BYTES) {
        long size = Math.min(SEGMENT_BYTES, length - start);
        segments.add(channel.map(FileChannel.MapMode.READ_ONLY, start, size));
      }
    }
  }

  /**
   * Compares the bytes that a buffer has left with an object's at a position, and takes none of
   * them.
   *
   * @param position in the object
   * @throws WrongBytesException naming the first byte that differs
   */
  void check(ObjectSlice object, long position, ByteBuffer bytes) throws WrongBytesException {
    int count = bytes.remaining();
    long first = position - object.position();
    if (first < 0 || first + count > object.length()) {
      throw new WrongBytesException(
          "%d bytes at %d are not all within %s".formatted(count, position, object));
    }
    int done = 0;
    while (done < count) {
      long at = object.reference() + first + done;
      if (at >= length) {
        throw new IllegalStateException("The reference file is shorter than " + object);
      }
      MappedByteBuffer segment = segments.get((int) (at / SEGMENT_BYTES));
      int inSegment = (int) (at % SEGMENT_BYTES);
      int piece = Math.min(count - done, segment.limit() - inSegment);
      ByteBuffer expected = segment.slice(inSegment, piece);
      ByteBuffer actual = bytes.slice(bytes.position() + done, piece);
      int mismatch = expected.mismatch(actual);
      if (mismatch >= 0) {
        throw new WrongBytesException(
            "wrong byte at %d of %s: expected 0x%02x, got 0x%02x"
                .formatted(
                    position + done + mismatch,
                    object.uri(),
                    expected.get(mismatch),
                    actual.get(mismatch)));
      }
      done += piece;
    }
  }
}
