// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.formats;

import io.s3e.hadoop.formats.ColumnarObject.Chunk;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.random.RandomGenerator;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileRange;

/** Reads a {@link ColumnarObject} as readers of Parquet do, and compares every byte. */
final class ColumnarBytes {
  /** How the chunks of a group are read. */
  enum Manner {
    /** Seek and read, chunk after chunk. */
    SEEKS,
    /** All chunks by one call. */
    VECTORED,
    /** By position, which leaves that of the stream alone. */
    POSITIONED
  }

  private static final long DEADLINE_SECONDS = 90;
  private static final int LONGEST_READ = 100_000;

  private final byte[] content;
  private final ColumnarObject object;
  private final FSDataInputStream in;

  ColumnarBytes(ColumnarObject object, FSDataInputStream in) {
    this.object = object;
    this.content = object.content();
    this.in = in;
  }

  /** The magic and the length of the footer byte by byte, then the footer. */
  void footer() throws IOException {
    in.seek(content.length - 8);
    for (int at = content.length - 8; at < content.length; at++) {
      int value = in.read();
      if (value < 0) {
        throw end(at);
      }
      if (value != (content[at] & 0xff)) {
        throw wrong(at);
      }
    }
    int length = object.footerBytes();
    scan(content.length - length, length);
  }

  /** The first {@code columns} chunks of a group but one in two. */
  void group(int group, int columns, Manner manner) throws IOException {
    List<Chunk> chunks = new ArrayList<>();
    for (int column = 0; column < columns; column += 2) {
      chunks.add(object.chunk(group, column));
    }
    switch (manner) {
      case SEEKS -> {
        for (Chunk chunk : chunks) {
          scan((int) chunk.start(), (int) chunk.length());
        }
      }
      case POSITIONED -> {
        for (Chunk chunk : chunks) {
          byte[] bytes = new byte[(int) chunk.length()];
          in.readFully(chunk.start(), bytes);
          compare(chunk.start(), ByteBuffer.wrap(bytes));
        }
      }
      case VECTORED -> {
        List<FileRange> ranges = new ArrayList<>();
        for (Chunk chunk : chunks) {
          if (ranges.stream().noneMatch(each -> overlaps(each, chunk))) {
            ranges.add(FileRange.createFileRange(chunk.start(), (int) chunk.length()));
          }
        }
        vectored(ranges);
      }
    }
  }

  /** A call with overlapping ranges is refused. */
  private static boolean overlaps(FileRange range, Chunk chunk) {
    return range.getOffset() < chunk.start() + chunk.length()
        && chunk.start() < range.getOffset() + range.getLength();
  }

  /** Some bytes from anywhere. */
  void anywhere(RandomGenerator random) throws IOException {
    int length = 1 + random.nextInt(LONGEST_READ);
    int from = random.nextInt(content.length - length);
    if (random.nextBoolean()) {
      scan(from, length);
    } else {
      byte[] bytes = new byte[length];
      in.readFully(from, bytes);
      compare(from, ByteBuffer.wrap(bytes));
    }
  }

  private void scan(int from, int length) throws IOException {
    in.seek(from);
    byte[] piece = new byte[Math.min(length, 8 << 20)];
    for (int at = from; at < from + length; ) {
      int count = in.read(piece, 0, Math.min(piece.length, from + length - at));
      if (count < 0) {
        throw end(at);
      }
      compare(at, ByteBuffer.wrap(piece, 0, count));
      at += count;
    }
  }

  private void vectored(List<FileRange> ranges) throws IOException {
    in.readVectored(ranges, ByteBuffer::allocate);
    for (FileRange range : ranges) {
      ByteBuffer bytes;
      try {
        bytes = range.getData().get(DEADLINE_SECONDS, TimeUnit.SECONDS);
      } catch (ExecutionException e) {
        throw e.getCause() instanceof IOException failure ? failure : new IOException(e);
      } catch (InterruptedException | TimeoutException e) {
        throw new AssertionError("range " + range + " does not come", e);
      }
      if (bytes.remaining() != range.getLength()) {
        throw new AssertionError("short range " + range);
      }
      compare(range.getOffset(), bytes);
    }
  }

  private void compare(long from, ByteBuffer bytes) {
    int wrong = ByteBuffer.wrap(content, (int) from, bytes.remaining()).mismatch(bytes);
    if (wrong >= 0) {
      throw wrong(from + wrong);
    }
  }

  private EOFException end(long at) {
    return new EOFException("end at " + at + " of " + content.length);
  }

  private static AssertionError wrong(long at) {
    return new AssertionError("wrong from byte " + at + " on");
  }
}
