// SPDX-License-Identifier: Apache-2.0
package io.s3e.iceberg;

import io.s3e.block.ByteRange;
import io.s3e.client.RequestFailure;
import io.s3e.stream.S3EInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import org.apache.iceberg.exceptions.NotFoundException;
import org.apache.iceberg.io.FileIOMetricsContext;
import org.apache.iceberg.io.FileRange;
import org.apache.iceberg.io.RangeReadable;
import org.apache.iceberg.io.SeekableInputStream;
import org.apache.iceberg.metrics.Counter;
import org.apache.iceberg.metrics.MetricsContext;

/**
 * Iceberg's interfaces over a stream of S3E's. A position behind the end is taken, as {@code
 * S3FileIO} takes it, and reads there find the end of the file. For one thread at a time, but that
 * reads of ranges may come from any, and {@link #close} too.
 */
final class S3ESeekableInputStream extends SeekableInputStream implements RangeReadable {
  /** Held so that the {@link S3EFileIO} is not finalized, which closes it, under its readers. */
  private final S3EInputFile file;

  private final S3EInputStream in;
  private final Counter readBytes;
  private final Counter readOperations;
  private long next;

  S3ESeekableInputStream(S3EInputFile file, S3EInputStream in, MetricsContext metrics) {
    this.file = file;
    this.in = in;
    this.readBytes = metrics.counter(FileIOMetricsContext.READ_BYTES, MetricsContext.Unit.BYTES);
    this.readOperations = metrics.counter(FileIOMetricsContext.READ_OPERATIONS);
  }

  @Override
  public long getPos() {
    return next;
  }

  @Override
  public void seek(long newPos) {
    requireOpen();
    if (newPos < 0) {
      throw new IllegalArgumentException("position is negative: " + newPos);
    }
    next = newPos;
  }

  @Override
  public int read() throws IOException {
    if (!isInside()) {
      return -1;
    }
    try {
      in.seek(next);
      int value = in.read();
      count(value < 0 ? 0 : 1);
      next += value < 0 ? 0 : 1;
      return value;
    } catch (IOException e) {
      throw told(e);
    }
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    if (length > 0 && !isInside()) {
      return -1;
    }
    try {
      in.seek(Math.min(next, in.size()));
      int count = in.read(target, offset, length);
      count(count);
      next += Math.max(0, count);
      return count;
    } catch (IOException e) {
      throw told(e);
    }
  }

  @Override
  public long skip(long count) {
    requireOpen();
    long skipped = Math.max(0, Math.min(count, in.size() - next));
    next += skipped;
    return skipped;
  }

  @Override
  public void readFully(long position, byte[] target, int offset, int length) throws IOException {
    requireOpen();
    try {
      in.readFullyAt(position, target, offset, length);
      count(length);
    } catch (IOException e) {
      throw told(e);
    }
  }

  @Override
  public int readTail(byte[] target, int offset, int length) throws IOException {
    requireOpen();
    int count = (int) Math.min(length, in.size());
    readFully(in.size() - count, target, offset, count);
    return count;
  }

  /** Reads all ranges at once; none waits for another. */
  @Override
  public void readVectored(List<FileRange> ranges, IntFunction<ByteBuffer> allocate)
      throws IOException {
    requireOpen();
    for (FileRange range : ranges) {
      if (range.offset() + range.length() > in.size()) {
        throw new EOFException(
            "Range of " + range.length() + " bytes at " + range.offset() + " of " + this);
      }
    }
    List<CompletableFuture<ByteBuffer>> arrivals =
        in.readVectored(
            ranges.stream()
                .map(range -> new ByteRange(range.offset(), range.offset() + range.length()))
                .toList(),
            allocate,
            buffer -> {});
    for (int i = 0; i < arrivals.size(); i++) {
      // On the caller's thread, of which Spark takes what its task has read.
      count(ranges.get(i).length());
      CompletableFuture<ByteBuffer> told = ranges.get(i).byteBuffer();
      CompletableFuture<ByteBuffer> unused =
          arrivals
              .get(i)
              .whenComplete(
                  (buffer, failure) -> {
                    if (failure == null) {
                      told.complete(buffer);
                    } else {
                      told.completeExceptionally(icebergs(failure));
                    }
                  });
    }
  }

  @Override
  public int available() throws IOException {
    requireOpen();
    if (!isInside()) {
      return 0;
    }
    in.seek(next);
    return in.available();
  }

  @Override
  public void close() {
    in.close();
  }

  private boolean isInside() {
    requireOpen();
    return next < in.size();
  }

  private void requireOpen() {
    if (!in.isOpen()) {
      throw new IllegalStateException("Cannot read: already closed");
    }
  }

  private void count(int bytes) {
    if (bytes > 0) {
      readBytes.increment(bytes);
      readOperations.increment();
    }
  }

  /**
   * @throws NotFoundException if there is no such object, as {@code S3FileIO} says it
   */
  private IOException told(IOException failure) {
    if (icebergs(failure) instanceof NotFoundException missing) {
      throw missing;
    }
    return failure;
  }

  private Throwable icebergs(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof RequestFailure refused
          && refused.kind() == RequestFailure.Kind.NOT_FOUND) {
        return new NotFoundException(failure, "Location does not exist: %s", file.location());
      }
    }
    return failure;
  }

  @Override
  public String toString() {
    return file.location();
  }
}
