// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.core;

import io.s3e.block.ByteRange;
import io.s3e.stream.S3EInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import org.apache.hadoop.fs.ByteBufferReadable;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.fs.VectoredReadUtils;

/** The core's stream as Hadoop sees streams; threads and closing as there. Owns it. */
final class CoreInputStream extends WrappedStream implements ByteBufferReadable {

  private final S3EInputStream in;

  CoreInputStream(S3EInputStream in) {
    super(in);
    this.in = in;
  }

  @Override
  public int read(ByteBuffer buffer) throws IOException {
    return in.read(buffer);
  }

  @Override
  public int read(long position, byte[] buffer, int offset, int length) throws IOException {
    return in.readAt(position, buffer, offset, length);
  }

  @Override
  public void readFully(long position, byte[] buffer, int offset, int length) throws IOException {
    in.readFullyAt(position, buffer, offset, length);
  }

  @Override
  public void readVectored(List<? extends FileRange> ranges, IntFunction<ByteBuffer> allocate)
      throws IOException {
    List<? extends FileRange> sorted =
        VectoredReadUtils.validateAndSortRanges(ranges, Optional.of(in.size()));
    List<ByteRange> wanted = new ArrayList<>(sorted.size());
    for (FileRange range : sorted) {
      wanted.add(ByteRange.ofLength(range.getOffset(), range.getLength()));
    }
    List<CompletableFuture<ByteBuffer>> futures = in.readVectored(wanted, allocate, buffer -> {});
    for (int i = 0; i < futures.size(); i++) {
      sorted.get(i).setData(futures.get(i));
    }
  }

  @Override
  public void seek(long target) throws IOException {
    in.seek(target);
  }

  @Override
  public long getPos() {
    return in.position();
  }

  @Override
  public boolean hasCapability(String capability) {
    return switch (capability.toLowerCase(Locale.ROOT)) {
      case StreamCapabilities.VECTOREDIO, StreamCapabilities.READBYTEBUFFER -> true;
      default -> false;
    };
  }
}
