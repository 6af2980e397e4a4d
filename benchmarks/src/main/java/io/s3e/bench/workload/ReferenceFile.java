package io.s3e.bench.workload;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * A local copy of the object's first bytes, mapped, to compare with what a stream returned. Any
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

  long length() {
    return length;
  }

  /**
   * Compares a buffer, from its position to its limit, with the object's bytes at a position. The
   * buffer stays as it is.
   *
   * @throws WrongBytesException naming the first byte that differs
   */
  void check(long position, ByteBuffer bytes) throws WrongBytesException {
    int offset = bytes.position();
    int count = bytes.remaining();
    int done = 0;
    while (done < count) {
      long at = position + done;
      if (at >= length) {
        throw new WrongBytesException("bytes beyond the object's end at " + at);
      }
      MappedByteBuffer segment = segments.get((int) (at / SEGMENT_BYTES));
      int inSegment = (int) (at % SEGMENT_BYTES);
      int piece = Math.min(count - done, segment.limit() - inSegment);
      ByteBuffer expected = segment.slice(inSegment, piece);
      int mismatch = expected.mismatch(bytes.slice(offset + done, piece));
      if (mismatch >= 0) {
        throw new WrongBytesException(
            "wrong byte at %d: expected 0x%02x, got 0x%02x"
                .formatted(
                    at + mismatch, expected.get(mismatch), bytes.get(offset + done + mismatch)));
      }
      done += piece;
    }
  }
}
