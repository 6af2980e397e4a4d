// SPDX-License-Identifier: Apache-2.0
package io.s3e.parquet;

import io.s3e.block.ByteRange;
import io.s3e.client.RequestFailure;
import io.s3e.fetch.ObjectChangedException;
import io.s3e.stream.S3EInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.parquet.bytes.ByteBufferAllocator;
import org.apache.parquet.io.ParquetFileRange;
import org.apache.parquet.io.SeekableInputStream;
import org.jspecify.annotations.Nullable;

/**
 * parquet-java's stream over one of S3E's. For one thread at a time; ranges of {@link
 * #readVectored} complete on the engine's threads, and {@link #close} may come from any.
 */
final class S3ESeekableInputStream extends SeekableInputStream {
  private final S3EInputFile file;
  private final S3EInputStream in;

  /** Whether the file has heard which version this stream reads, and has agreed. */
  private volatile boolean isAgreed;

  S3ESeekableInputStream(S3EInputFile file, S3EInputStream in) {
    this.file = file;
    this.in = in;
  }

  @Override
  public long getPos() {
    return in.position();
  }

  @Override
  public void seek(long position) throws IOException {
    in.seek(position);
  }

  @Override
  public int read() throws IOException {
    return told(in::read);
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    return told(() -> in.read(target, offset, length));
  }

  /** {@inheritDoc} Fetches nothing. */
  @Override
  public long skip(long count) throws IOException {
    return in.skip(count);
  }

  @Override
  public int available() throws IOException {
    return in.available();
  }

  /**
   * Reads at least one byte into the space that remains in {@code target}.
   *
   * @return how many bytes, or -1 at the end of the object
   */
  @Override
  public int read(ByteBuffer target) throws IOException {
    return told(() -> in.read(target));
  }

  @Override
  public void readFully(byte[] target) throws IOException {
    readFully(target, 0, target.length);
  }

  /**
   * Fills the array's part.
   *
   * @throws java.io.EOFException if the object ends first
   */
  @Override
  public void readFully(byte[] target, int offset, int length) throws IOException {
    told(
        () -> {
          in.readFully(target, offset, length);
          return length;
        });
  }

  /** Fills the space that remains in {@code target}; otherwise as above. */
  @Override
  public void readFully(ByteBuffer target) throws IOException {
    told(
        () -> {
          int length = target.remaining();
          // At once, which says how much is wanted.
          in.readFullyAt(in.position(), target);
          in.seek(in.position() + length);
          return length;
        });
  }

  @Override
  public boolean readVectoredAvailable(ByteBufferAllocator allocator) {
    return true;
  }

  /**
   * Asks for all ranges at once; none waits for another. Each has its future when this returns.
   *
   * @throws java.io.EOFException if a range goes behind the end, before anything is sent
   * @throws IllegalArgumentException if two ranges overlap, likewise
   */
  @Override
  public void readVectored(List<ParquetFileRange> ranges, ByteBufferAllocator allocator)
      throws IOException {
    List<CompletableFuture<ByteBuffer>> arrivals =
        in.readVectored(
            ranges.stream()
                .map(range -> ByteRange.ofLength(range.getOffset(), range.getLength()))
                .toList(),
            allocator::allocate,
            allocator::release);
    for (int i = 0; i < arrivals.size(); i++) {
      ranges.get(i).setDataReadFuture(checked(arrivals.get(i), allocator));
    }
  }

  /** What arrives, of the file's version alone; a reader's cancel reaches the arrival. */
  private CompletableFuture<ByteBuffer> checked(
      CompletableFuture<ByteBuffer> arrival, ByteBufferAllocator allocator) {
    CompletableFuture<ByteBuffer> given = new CompletableFuture<>();
    var unused = arrival.whenComplete((buffer, failure) -> give(given, buffer, failure, allocator));
    var unusedToo = given.whenComplete((buffer, failure) -> arrival.cancel(false));
    return given;
  }

  private void give(
      CompletableFuture<ByteBuffer> given,
      @Nullable ByteBuffer buffer,
      @Nullable Throwable failure,
      ByteBufferAllocator allocator) {
    Throwable problem = failure == null ? disagreement() : failure;
    boolean isTaken = problem == null && given.complete(buffer);
    try {
      if (buffer != null && !isTaken) {
        allocator.release(buffer);
      }
    } finally {
      if (problem != null) {
        given.completeExceptionally(problem);
      }
    }
  }

  /** {@inheritDoc} Fails pending ranges at once; the engine stays open. */
  @Override
  public void close() {
    in.close();
  }

  /** A read of the stream's. */
  @FunctionalInterface
  private interface Read {
    int count() throws IOException;
  }

  /** Reads, of the file's version alone, and says what is missing as Java does. */
  private int told(Read read) throws IOException {
    int count;
    try {
      count = read.count();
    } catch (IOException e) {
      throw isMissing(e) ? (IOException) new FileNotFoundException(e.getMessage()).initCause(e) : e;
    }
    IOException problem = disagreement();
    if (problem != null) {
      throw problem;
    }
    return count;
  }

  /** Tells the file which version this stream reads; what it says if that is not its own. */
  private @Nullable IOException disagreement() {
    String etag = in.etag();
    if (isAgreed || etag == null) {
      return null;
    }
    try {
      file.reads(etag);
      isAgreed = true;
      return null;
    } catch (ObjectChangedException e) {
      return e;
    }
  }

  private static boolean isMissing(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof RequestFailure refused
          && refused.kind() == RequestFailure.Kind.NOT_FOUND) {
        return true;
      }
    }
    return false;
  }

  @Override
  public String toString() {
    return in.toString();
  }
}
