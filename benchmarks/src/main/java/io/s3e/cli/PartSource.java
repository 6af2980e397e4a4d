// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of an upload, cut into parts. {@link #next} belongs to one thread; parts are read by
 * others, at the same time and as often as they are sent.
 */
abstract class PartSource implements AutoCloseable {

  /** Parts that S3 allows. */
  static final int MAX_PARTS = 10_000;

  private int parts;

  /** A piece of the source, in its order. */
  abstract static class Part {
    private final int number;
    private final int length;

    private Part(int number, int length) {
      this.number = number;
      this.length = length;
    }

    /** From 1 on. */
    final int number() {
      return number;
    }

    /** In bytes; 0 only for the first part of nothing. */
    final int length() {
      return length;
    }

    /** Its bytes, from the first on. */
    abstract InputStream open();

    /** Nobody will read it again. */
    abstract void release();
  }

  /**
   * The next part; null after the last. There is always a first.
   *
   * @throws IOException if the source cannot be read, or has more than {@link #MAX_PARTS} parts
   */
  final @Nullable Part next() throws IOException {
    Part part = read(parts + 1);
    if (part != null && ++parts > MAX_PARTS) {
      throw new IOException("more than " + MAX_PARTS + " parts; raise --part-size");
    }
    return part;
  }

  abstract @Nullable Part read(int number) throws IOException;

  @Override
  public abstract void close() throws IOException;

  /** A file, read where a part lies: takes no memory, however many parts are under way. */
  static PartSource of(Path file, long size, int partBytes) throws IOException {
    return new OfFile(FileChannel.open(file, StandardOpenOption.READ), size, partBytes);
  }

  /**
   * A stream, which is not closed. Holds as many buffers of a part as there are parts that nobody
   * has released; they are used again.
   */
  static PartSource of(InputStream in, int partBytes) {
    return new OfStream(in, partBytes);
  }

  private static final class OfFile extends PartSource {
    private final FileChannel channel;
    private final long size;
    private final int partBytes;

    OfFile(FileChannel channel, long size, int partBytes) {
      this.channel = channel;
      this.size = size;
      this.partBytes = partBytes;
    }

    @Override
    @Nullable Part read(int number) {
      long start = (long) (number - 1) * partBytes;
      if (number > 1 && start >= size) {
        return null;
      }
      return new Part(number, (int) Math.min(partBytes, size - start)) {
        @Override
        InputStream open() {
          return new Slice(channel, start, length());
        }

        @Override
        void release() {}
      };
    }

    @Override
    public void close() throws IOException {
      channel.close();
    }
  }

  private static final class OfStream extends PartSource {
    private final InputStream in;
    private final int partBytes;
    private final Queue<byte[]> free = new ConcurrentLinkedQueue<>();

    OfStream(InputStream in, int partBytes) {
      this.in = in;
      this.partBytes = partBytes;
    }

    @Override
    @Nullable Part read(int number) throws IOException {
      byte[] used = free.poll();
      byte[] buffer = used == null ? new byte[partBytes] : used;
      int length = in.readNBytes(buffer, 0, partBytes);
      if (length == 0 && number > 1) {
        return null;
      }
      return new Part(number, length) {
        @Override
        InputStream open() {
          return new ByteArrayInputStream(buffer, 0, length());
        }

        @Override
        void release() {
          free.add(buffer);
        }
      };
    }

    @Override
    public void close() {}
  }

  /** A piece of a file that others read, too. */
  private static final class Slice extends InputStream {
    private final FileChannel channel;
    private long at;
    private final long end;

    Slice(FileChannel channel, long start, int length) {
      this.channel = channel;
      this.at = start;
      this.end = start + length;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      if (at == end) {
        return -1;
      }
      int wanted = (int) Math.min(length, end - at);
      int count = channel.read(ByteBuffer.wrap(target, offset, wanted), at);
      if (count < 0) {
        throw new EOFException("the file has become shorter than " + end + " bytes");
      }
      at += count;
      return count;
    }
  }
}
