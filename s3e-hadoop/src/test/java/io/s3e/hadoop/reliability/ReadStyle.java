// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.reliability;

import io.s3e.testing.StoredContent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** A way to read a file. Every byte is compared. */
enum ReadStyle {
  /** The whole file from the front, by arrays. */
  SEQUENTIAL("read(array)") {
    @Override
    void read(FSDataInputStream in, StoredContent content) throws Exception {
      byte[] piece = new byte[PIECE_BYTES];
      long at = 0;
      for (int count = in.read(piece); count >= 0; count = in.read(piece)) {
        check(content, at, piece, count);
        at += count;
      }
      if (at != content.size()) {
        throw new WrongBytesException("end at " + at + " of " + content.size());
      }
    }
  },

  /** Reads of 64 KiB from anywhere. */
  POSITIONED("readFully(position)") {
    @Override
    void read(FSDataInputStream in, StoredContent content) throws Exception {
      byte[] some = new byte[PIECE_BYTES];
      for (long at : positions(content)) {
        in.readFully(at, some);
        check(content, at, some, some.length);
      }
    }
  },

  /** Ranges of 64 KiB, all in one call. */
  VECTORED("readVectored") {
    @Override
    void read(FSDataInputStream in, StoredContent content) throws Exception {
      List<FileRange> ranges = new ArrayList<>();
      for (long at : positions(content)) {
        ranges.add(FileRange.createFileRange(at, PIECE_BYTES));
      }
      in.readVectored(ranges, ByteBuffer::allocate);
      for (FileRange range : ranges) {
        check(content, range.getOffset(), join(range));
      }
    }
  },

  /** Half of the file by buffers from the front, and as much by position. */
  BYTE_BUFFER("read(ByteBuffer)") {
    @Override
    void read(FSDataInputStream in, StoredContent content) throws Exception {
      ByteBuffer buffer = ByteBuffer.allocateDirect(PIECE_BYTES);
      for (long at = 0; at < content.size() / 2; ) {
        buffer.clear();
        int count = in.read(buffer);
        if (count < 0) {
          throw new WrongBytesException("end at " + at + " of " + content.size());
        }
        check(content, at, buffer.flip());
        at += count;
      }
      for (long at : positions(content)) {
        buffer.clear();
        in.readFully(at, buffer);
        check(content, at, buffer.flip());
      }
    }
  },

  /** A Parquet file by parquet-java, all columns. */
  PARQUET("Parquet") {
    @Override
    void read(FSDataInputStream in, StoredContent content) throws Exception {
      SmallParquet.read(in, content.size());
    }
  };

  private static final int PIECE_BYTES = 64 << 10;
  private static final int POSITIONS = 24;

  private final String call;

  ReadStyle(String call) {
    this.call = call;
  }

  /** Opens the file and reads it. */
  void read(FileSystem fs, Path file, StoredContent content) throws Exception {
    try (FSDataInputStream in = fs.open(file)) {
      read(in, content);
    }
  }

  abstract void read(FSDataInputStream in, StoredContent content) throws Exception;

  @Override
  public String toString() {
    return call;
  }

  /** The same for every file of a size; none overlap. */
  private static List<Long> positions(StoredContent content) {
    long slot = content.size() / POSITIONS;
    Random random = new Random(content.size());
    List<Long> positions = new ArrayList<>();
    for (int i = 0; i < POSITIONS; i++) {
      positions.add(i * slot + (long) (random.nextDouble() * (slot - PIECE_BYTES)));
    }
    return positions;
  }

  static ByteBuffer join(FileRange range) throws Exception {
    try {
      return range.getData().get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof IOException failure ? failure : e;
    }
  }

  static void check(StoredContent content, long at, ByteBuffer seen) throws WrongBytesException {
    byte[] bytes = new byte[seen.remaining()];
    seen.get(bytes);
    check(content, at, bytes, bytes.length);
  }

  static void check(StoredContent content, long at, byte[] seen, int count)
      throws WrongBytesException {
    byte[] right = new byte[count];
    if (at + count > content.size()) {
      throw new WrongBytesException("bytes behind the end, at " + (at + count));
    }
    content.copy(at, right, 0, count);
    int wrong = Arrays.mismatch(seen, 0, count, right, 0, count);
    if (wrong >= 0) {
      throw new WrongBytesException("wrong from byte " + (at + wrong) + " on");
    }
  }
}
