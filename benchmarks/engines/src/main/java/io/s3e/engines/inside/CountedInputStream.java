// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.inside;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.apache.hadoop.fs.CanSetReadahead;
import org.apache.hadoop.fs.CanUnbuffer;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.PositionedReadable;
import org.apache.hadoop.fs.Seekable;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsSource;

/** A stream that is as its inner one, and counts in {@link GivenBytes} what it gives. */
final class CountedInputStream extends FSDataInputStream {

  CountedInputStream(FSDataInputStream inner) {
    super(new Counted(inner));
  }

  private static final class Counted extends InputStream
      implements Seekable,
          PositionedReadable,
          CanSetReadahead,
          CanUnbuffer,
          StreamCapabilities,
          IOStatisticsSource {
    private final FSDataInputStream inner;

    Counted(FSDataInputStream inner) {
      this.inner = inner;
    }

    private static int counted(int bytes) {
      if (bytes > 0) {
        GivenBytes.add(bytes);
      }
      return bytes;
    }

    @Override
    public int read() throws IOException {
      int read = inner.read();
      if (read >= 0) {
        GivenBytes.add(1);
      }
      return read;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      return counted(inner.read(bytes, offset, length));
    }

    @Override
    public int read(long position, byte[] bytes, int offset, int length) throws IOException {
      return counted(inner.read(position, bytes, offset, length));
    }

    @Override
    public void readFully(long position, byte[] bytes, int offset, int length) throws IOException {
      inner.readFully(position, bytes, offset, length);
      GivenBytes.add(length);
    }

    @Override
    public void readFully(long position, byte[] bytes) throws IOException {
      readFully(position, bytes, 0, bytes.length);
    }

    @Override
    public int minSeekForVectorReads() {
      return inner.minSeekForVectorReads();
    }

    @Override
    public int maxReadSizeForVectorReads() {
      return inner.maxReadSizeForVectorReads();
    }

    @Override
    public void readVectored(List<? extends FileRange> ranges, IntFunction<ByteBuffer> allocate)
        throws IOException {
      inner.readVectored(ranges, allocate);
      count(ranges);
    }

    @Override
    public void readVectored(
        List<? extends FileRange> ranges,
        IntFunction<ByteBuffer> allocate,
        Consumer<ByteBuffer> release)
        throws IOException {
      inner.readVectored(ranges, allocate, release);
      count(ranges);
    }

    /** When the bytes are there: a reader that gives up is given nothing. */
    private static void count(List<? extends FileRange> ranges) {
      for (FileRange range : ranges) {
        range.setData(
            range
                .getData()
                .thenApply(
                    data -> {
                      GivenBytes.add(range.getLength());
                      return data;
                    }));
      }
    }

    @Override
    public void seek(long position) throws IOException {
      if (position < 0) {
        throw new EOFException("Cannot seek to " + position);
      }
      inner.seek(position);
    }

    @Override
    public long getPos() throws IOException {
      return inner.getPos();
    }

    @Override
    public boolean seekToNewSource(long position) throws IOException {
      return inner.seekToNewSource(position);
    }

    @Override
    public int available() throws IOException {
      return inner.available();
    }

    @Override
    public void setReadahead(Long readahead) throws IOException {
      inner.setReadahead(readahead);
    }

    @Override
    public void unbuffer() {
      inner.unbuffer();
    }

    @Override
    public boolean hasCapability(String capability) {
      // S3A has no reads into a ByteBuffer; they would go past the count.
      return !capability.equals(StreamCapabilities.READBYTEBUFFER)
          && inner.hasCapability(capability);
    }

    @Override
    public IOStatistics getIOStatistics() {
      return inner.getIOStatistics();
    }

    @Override
    public void close() throws IOException {
      inner.close();
    }

    @Override
    public String toString() {
      return inner.toString();
    }
  }
}
