// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.iceberg;

import io.s3e.bench.core.WrappedStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.iceberg.io.RangeReadable;
import org.apache.iceberg.io.SeekableInputStream;

/**
 * Iceberg's stream as Hadoop sees streams: each call is the one that Iceberg's ParquetIO makes, a
 * vectored read where the stream has ranges, as ParquetIO does since Iceberg 1.11. Owns the stream;
 * threads as there.
 */
final class IcebergInputStream extends WrappedStream {
  private final SeekableInputStream in;

  IcebergInputStream(SeekableInputStream in) {
    super(in);
    this.in = in;
  }

  @Override
  public void readFully(long position, byte[] buffer, int offset, int length) throws IOException {
    if (in instanceof RangeReadable ranges) {
      ranges.readFully(position, buffer, offset, length);
    } else {
      super.readFully(position, buffer, offset, length);
    }
  }

  @Override
  public void readVectored(List<? extends FileRange> ranges, IntFunction<ByteBuffer> allocate)
      throws IOException {
    if (!(in instanceof RangeReadable readable)) {
      super.readVectored(ranges, allocate);
      return;
    }
    List<org.apache.iceberg.io.FileRange> asked = new ArrayList<>(ranges.size());
    for (FileRange range : ranges) {
      CompletableFuture<ByteBuffer> arrival = new CompletableFuture<>();
      range.setData(arrival);
      asked.add(new org.apache.iceberg.io.FileRange(arrival, range.getOffset(), range.getLength()));
    }
    readable.readVectored(asked, allocate);
  }

  @Override
  public void seek(long target) throws IOException {
    in.seek(target);
  }

  @Override
  public long getPos() throws IOException {
    return in.getPos();
  }

  @Override
  public boolean hasCapability(String capability) {
    return StreamCapabilities.VECTOREDIO.equals(capability.toLowerCase(Locale.ROOT))
        && in instanceof RangeReadable;
  }
}
