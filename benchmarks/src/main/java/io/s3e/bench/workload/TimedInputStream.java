// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.apache.hadoop.fs.ByteBufferReadable;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.StreamCapabilities;

/**
 * A stream whose calls a {@link ReadClock} times. Everything is done by the stream inside, by the
 * same call, so that the formats' readers find the same capabilities and take the same way.
 */
class TimedInputStream extends FSInputStream implements StreamCapabilities {

  /** For a stream that also reads into byte buffers: readers ask for the type. */
  private static final class OfByteBuffers extends TimedInputStream implements ByteBufferReadable {
    OfByteBuffers(FSDataInputStream in, ReadClock clock) {
      super(in, clock);
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
      return counted(() -> in.read(target));
    }
  }

  final FSDataInputStream in;
  private final ReadClock clock;

  private TimedInputStream(FSDataInputStream in, ReadClock clock) {
    this.in = in;
    this.clock = clock;
  }

  /** The stream with its calls timed. Owns it. */
  static FSDataInputStream over(FSDataInputStream in, ReadClock clock) {
    return new FSDataInputStream(
        in.getWrappedStream() instanceof ByteBufferReadable
            ? new OfByteBuffers(in, clock)
            : new TimedInputStream(in, clock));
  }

  final int counted(ReadClock.Call<Integer> read) throws IOException {
    int given = clock.timed(read);
    clock.gave(Math.max(0, given));
    return given;
  }

  @Override
  public int read() throws IOException {
    int value = clock.timed(in::read);
    clock.gave(value < 0 ? 0 : 1);
    return value;
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    return counted(() -> in.read(target, offset, length));
  }

  @Override
  public int read(long position, byte[] target, int offset, int length) throws IOException {
    return counted(() -> in.read(position, target, offset, length));
  }

  @Override
  public void readFully(long position, byte[] target, int offset, int length) throws IOException {
    int unused =
        counted(
            () -> {
              in.readFully(position, target, offset, length);
              return length;
            });
  }

  @Override
  public void readVectored(List<? extends FileRange> ranges, IntFunction<ByteBuffer> allocate)
      throws IOException {
    readVectored(ranges, allocate, buffer -> {});
  }

  @Override
  public void readVectored(
      List<? extends FileRange> ranges,
      IntFunction<ByteBuffer> allocate,
      Consumer<ByteBuffer> release)
      throws IOException {
    int unused =
        counted(
            () -> {
              in.readVectored(ranges, allocate, release);
              return ranges.stream().mapToInt(FileRange::getLength).sum();
            });
    for (FileRange range : ranges) {
      range.setData(clock.timed(range.getData()));
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
  public int available() throws IOException {
    return in.available();
  }

  @Override
  public boolean hasCapability(String capability) {
    return in.hasCapability(capability);
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
