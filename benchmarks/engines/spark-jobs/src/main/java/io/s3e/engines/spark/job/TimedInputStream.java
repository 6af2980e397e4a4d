// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.spark.job;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.apache.hadoop.fs.ByteBufferPositionedReadable;
import org.apache.hadoop.fs.ByteBufferReadable;
import org.apache.hadoop.fs.CanSetReadahead;
import org.apache.hadoop.fs.CanUnbuffer;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.PositionedReadable;
import org.apache.hadoop.fs.Seekable;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsSource;
import org.jspecify.annotations.Nullable;

/** A stream whose calls the {@link ReadClock} counts; everything is done by the stream inside. */
class TimedInputStream extends InputStream
    implements Seekable,
        PositionedReadable,
        CanSetReadahead,
        CanUnbuffer,
        StreamCapabilities,
        IOStatisticsSource {

  /** As {@link TimedInputStream}, for a stream that also reads into byte buffers. */
  private static final class OfByteBuffers extends TimedInputStream
      implements ByteBufferReadable, ByteBufferPositionedReadable {
    OfByteBuffers(FSDataInputStream in) {
      super(in);
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
      return ReadClock.read(() -> in.read(target));
    }

    @Override
    public int read(long position, ByteBuffer target) throws IOException {
      return ReadClock.read(() -> in.read(position, target));
    }

    @Override
    public void readFully(long position, ByteBuffer target) throws IOException {
      ReadClock.readFully(target.remaining(), () -> in.readFully(position, target));
    }
  }

  final FSDataInputStream in;

  private TimedInputStream(FSDataInputStream in) {
    this.in = in;
  }

  /** The stream with its calls counted, and with the same ways to read it. */
  static FSDataInputStream over(FSDataInputStream in) {
    return new FSDataInputStream(
        in.getWrappedStream() instanceof ByteBufferReadable
            ? new OfByteBuffers(in)
            : new TimedInputStream(in));
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    int given = read(one, 0, 1);
    return given < 0 ? given : one[0] & 0xff;
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    return ReadClock.read(() -> in.read(target, offset, length));
  }

  @Override
  public int read(long position, byte[] target, int offset, int length) throws IOException {
    return ReadClock.read(() -> in.read(position, target, offset, length));
  }

  @Override
  public void readFully(long position, byte[] target, int offset, int length) throws IOException {
    ReadClock.readFully(length, () -> in.readFully(position, target, offset, length));
  }

  @Override
  public void readFully(long position, byte[] target) throws IOException {
    readFully(position, target, 0, target.length);
  }

  @Override
  public void readVectored(List<? extends FileRange> ranges, IntFunction<ByteBuffer> allocate)
      throws IOException {
    readVectored(ranges, () -> in.readVectored(ranges, allocate));
  }

  @Override
  public void readVectored(
      List<? extends FileRange> ranges,
      IntFunction<ByteBuffer> allocate,
      Consumer<ByteBuffer> release)
      throws IOException {
    readVectored(ranges, () -> in.readVectored(ranges, allocate, release));
  }

  private static void readVectored(List<? extends FileRange> ranges, ReadClock.Action read)
      throws IOException {
    ReadClock.readFully(ranges.stream().mapToLong(FileRange::getLength).sum(), read);
    for (FileRange range : ranges) {
      range.setData(ReadClock.timedRead(range.getData()));
    }
  }

  @Override
  public int minSeekForVectorReads() {
    return in.minSeekForVectorReads();
  }

  @Override
  public int maxReadSizeForVectorReads() {
    return in.maxReadSizeForVectorReads();
  }

  @Override
  public long skip(long bytes) throws IOException {
    return in.skip(bytes);
  }

  @Override
  public int available() throws IOException {
    return in.available();
  }

  @Override
  public void seek(long position) throws IOException {
    in.seek(position);
  }

  @Override
  public long getPos() throws IOException {
    return in.getPos();
  }

  @Override
  public boolean seekToNewSource(long position) throws IOException {
    return in.seekToNewSource(position);
  }

  @Override
  public void setReadahead(Long bytes) throws IOException {
    in.setReadahead(bytes);
  }

  @Override
  public void unbuffer() {
    in.unbuffer();
  }

  @Override
  public boolean hasCapability(String capability) {
    return in.hasCapability(capability);
  }

  @Override
  public @Nullable IOStatistics getIOStatistics() {
    return in.getIOStatistics();
  }

  @Override
  public void close() throws IOException {
    in.close();
  }

  @Override
  public String toString() {
    return in.toString();
  }
}
