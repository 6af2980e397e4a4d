// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.hadoop33;

import io.s3e.OpenOptions;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.stream.S3EInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntFunction;
import org.apache.hadoop.fs.ByteBufferReadable;
import org.apache.hadoop.fs.CanSetReadahead;
import org.apache.hadoop.fs.CanUnbuffer;
import org.apache.hadoop.fs.FSExceptionMessages;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.fs.s3a.S3AInputStream;
import org.apache.hadoop.fs.s3a.statistics.S3AInputStreamStatistics;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsSource;
import org.jspecify.annotations.Nullable;

/**
 * A file of S3A 3.3, read by S3E, or by S3A's stream where {@link Reads} says so. S3A's stream is
 * closed with this one, which merges its statistics. As S3A's stream it takes positions behind the
 * end, where reads find the end of the file. Any thread; those that read in order or seek exclude
 * each other, and {@link #close} waits for none of them while S3E reads.
 */
final class Hadoop33InputStream extends FSInputStream
    implements ByteBufferReadable,
        CanSetReadahead,
        CanUnbuffer,
        StreamCapabilities,
        IOStatisticsSource {
  private final Reads reads;
  private final ObjectRef object;
  private final OpenOptions options;
  private final S3AInputStream theirs;
  private final S3AInputStreamStatistics counters;
  private final FileSystem.Statistics statistics;
  private final Reads.Account account;
  private final LongAdder bytesByS3e = new LongAdder();

  /** Held by what reads in order or moves the position. Taken before the lock of this. */
  private final Object order = new Object();

  /** Guarded by {@link #order}. */
  private long next;

  private volatile boolean closed;

  /** S3A's stream reads on then: where nobody told a version, both would hold on to their own. */
  private volatile boolean isReadByS3a;

  /** Opened by the first read; null before, and once S3A's stream reads. Guarded by this. */
  private @Nullable S3EInputStream own;

  /** In bytes; 0 for the default. Guarded by this. */
  private long readahead;

  Hadoop33InputStream(
      Reads reads,
      ObjectRef object,
      OpenOptions options,
      S3AInputStream theirs,
      FileSystem.Statistics statistics,
      Reads.Account account) {
    this.reads = reads;
    this.object = object;
    this.options = options;
    this.readahead = theirs.getReadahead();
    this.theirs = theirs;
    this.counters = theirs.getS3AStreamStatistics();
    this.statistics = statistics;
    this.account = account;
  }

  /** One way to read. */
  private interface Reader<S> {
    int read(S stream) throws IOException;
  }

  /** Reads by S3E, or by S3A where that is to read. */
  private int by(Reader<S3EInputStream> byS3e, Reader<S3AInputStream> byS3a) throws IOException {
    S3EInputStream stream = null;
    IOException failure = null;
    try {
      stream = own();
      if (stream != null) {
        int count = byS3e.read(stream);
        reads.came();
        if (count > 0) {
          countByS3e(count);
        }
        return count;
      }
    } catch (IOException e) {
      if (e instanceof EOFException || !reads.goBack(e) || hasFound(stream)) {
        if (!closed && !(e instanceof EOFException)) {
          counters.readException();
        }
        throw Failures.translate(path(), e);
      }
      failure = e;
    }
    int count = readBy(byS3a, failure);
    isReadByS3a = true;
    S3EInputStream failed = stream;
    if (failed != null) {
      reads.decide(() -> failed.readAt(0, new byte[1], 0, 1));
    }
    return count;
  }

  /** Counts a read as S3A's stream counts its own. */
  private int operation(long position, int length, int came) {
    counters.readOperationStarted(position, length);
    counters.readOperationCompleted(length, Math.max(0, came));
    return came;
  }

  private void countByS3e(long bytes) {
    bytesByS3e.add(bytes);
    counters.bytesRead(bytes);
    statistics.incrementBytesRead(bytes);
  }

  private int readBy(Reader<S3AInputStream> byS3a, @Nullable IOException failureOfS3e)
      throws IOException {
    try {
      return byS3a.read(theirs);
    } catch (IOException e) {
      if (failureOfS3e != null) {
        e.addSuppressed(failureOfS3e);
      }
      throw e;
    }
  }

  private String path() {
    return "s3a://" + object.bucket() + "/" + object.key();
  }

  private synchronized @Nullable S3EInputStream own() throws IOException {
    requireOpen();
    if (reads.isByS3a() && !hasFound(own)) {
      if (own != null) {
        // A read of another thread by it fails, and goes to S3A's stream.
        own.close();
        own = null;
      }
      return null;
    }
    if (isReadByS3a) {
      // Other threads may be inside S3E's stream, and get what they have asked it for.
      return null;
    }
    if (own == null) {
      own = reads.stream(object, options);
      if (own != null) {
        own.setReadahead(readahead);
      }
    }
    return own;
  }

  /** Whether S3E alone knows which version it reads: S3A's stream might read on in another. */
  private boolean hasFound(@Nullable S3EInputStream stream) {
    return stream != null && options.etag() == null && stream.etag() != null;
  }

  private void requireOpen() throws IOException {
    if (closed) {
      throw new IOException(path() + ": " + FSExceptionMessages.STREAM_IS_CLOSED);
    }
  }

  /** What the opener has told, until the store says less. */
  private synchronized long length() {
    return own == null ? options.size() : own.size();
  }

  @Override
  public long getPos() {
    synchronized (order) {
      return next;
    }
  }

  @Override
  public void seek(long target) throws IOException {
    requireOpen();
    if (target < 0) {
      throw new EOFException(FSExceptionMessages.NEGATIVE_SEEK + " " + target);
    }
    synchronized (order) {
      next = length() > 0 ? target : next;
    }
  }

  @Override
  public boolean seekToNewSource(long target) {
    return false;
  }

  @Override
  public int read() throws IOException {
    requireOpen();
    byte[] one = new byte[1];
    // No operation: S3A's stream counts none for a single byte.
    int count = readOn(stream -> stream.read(one, 0, 1), stream -> stream.read(one, 0, 1));
    return count < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    requireOpen();
    validatePositionedReadArgs(0, target, offset, length);
    if (length == 0) {
      return 0;
    }
    return readOn(
        stream -> operation(getPos(), length, stream.read(target, offset, length)),
        stream -> stream.read(target, offset, length));
  }

  @Override
  public int read(ByteBuffer target) throws IOException {
    requireOpen();
    if (!target.hasRemaining()) {
      return 0;
    }
    int length = target.remaining();
    return readOn(
        stream -> operation(getPos(), length, stream.read(target)),
        stream -> {
          byte[] bytes = new byte[Math.min(target.remaining(), 1 << 20)];
          int came = stream.read(bytes, 0, bytes.length);
          target.put(bytes, 0, Math.max(0, came));
          return came;
        });
  }

  /** Reads from the position on, and moves it. */
  private int readOn(Reader<S3EInputStream> byS3e, Reader<S3AInputStream> byS3a)
      throws IOException {
    synchronized (order) {
      long at = next;
      if (at >= length()) {
        return -1;
      }
      int count =
          by(
              stream -> {
                stream.seek(at);
                return byS3e.read(stream);
              },
              stream -> {
                stream.seek(at);
                return byS3a.read(stream);
              });
      next += Math.max(0, count);
      return count;
    }
  }

  @Override
  public int read(long position, byte[] target, int offset, int length) throws IOException {
    requireOpen();
    validatePositionedReadArgs(position, target, offset, length);
    if (length == 0) {
      return 0;
    }
    return position >= length()
        ? -1
        : by(
            stream -> operation(position, length, stream.readAt(position, target, offset, length)),
            stream -> stream.read(position, target, offset, length));
  }

  @Override
  public void readFully(long position, byte[] target, int offset, int length) throws IOException {
    requireOpen();
    validatePositionedReadArgs(position, target, offset, length);
    if (length == 0) {
      return;
    }
    if (position > length() - length) {
      throw new EOFException(FSExceptionMessages.EOF_IN_READ_FULLY);
    }
    by(
        stream -> {
          stream.readFullyAt(position, target, offset, length);
          counters.readFullyOperationStarted(position, length);
          return operation(position, length, length);
        },
        stream -> {
          stream.readFully(position, target, offset, length);
          return length;
        });
  }

  /**
   * As {@code PositionedReadable} has it from Hadoop 3.3.5 on. All ranges are asked for before this
   * returns; their futures complete on the engine's threads.
   *
   * @param ranges Hadoop's {@code FileRange}s, in any order
   * @throws EOFException if a range ends behind the file
   * @throws UnsupportedOperationException if two ranges overlap
   */
  public void readVectored(List<?> ranges, IntFunction<ByteBuffer> allocate) throws IOException {
    requireOpen();
    if (ranges.isEmpty()) {
      return;
    }
    List<ByteRange> wanted = new ArrayList<>(ranges.size());
    long bytes = 0;
    for (Object range : ranges) {
      wanted.add(VectoredCalls.bytes(range));
      bytes += wanted.get(wanted.size() - 1).length();
    }
    if (reads.isUndecided() && bytes > 0) {
      decideBy(wanted.get(0).start());
    }
    S3EInputStream stream = own();
    if (stream == null) {
      VectoredCalls.readVectored(theirs, ranges, allocate);
      return;
    }
    List<CompletableFuture<ByteBuffer>> data = vectored(stream, wanted, allocate);
    for (int i = 0; i < data.size(); i++) {
      VectoredCalls.setData(ranges.get(i), translated(data.get(i)));
    }
    countByS3e(bytes);
  }

  /** Who reads is decided by a read that waits, of a byte that counts as one of its range. */
  private void decideBy(long position) throws IOException {
    byte[] one = new byte[1];
    if (position < length()) {
      int unused =
          by(
              stream -> Math.min(0, stream.readAt(position, one, 0, 1)),
              stream -> stream.read(position, one, 0, 1));
    }
  }

  private List<CompletableFuture<ByteBuffer>> vectored(
      S3EInputStream stream, List<ByteRange> wanted, IntFunction<ByteBuffer> allocate)
      throws IOException {
    try {
      return stream.readVectored(wanted, allocate, buffer -> {});
    } catch (IllegalArgumentException e) {
      // S3A's for ranges that overlap.
      throw new UnsupportedOperationException(e.getMessage(), e);
    } catch (IOException e) {
      throw Failures.translate(path(), e);
    }
  }

  /** With S3A's exceptions; to cancel it cancels the read. */
  private CompletableFuture<ByteBuffer> translated(CompletableFuture<ByteBuffer> read) {
    CompletableFuture<ByteBuffer> given = new CompletableFuture<>();
    var unused =
        read.whenComplete(
            (buffer, failure) -> {
              if (failure == null) {
                given.complete(buffer);
              } else {
                given.completeExceptionally(
                    failure instanceof IOException io ? Failures.translate(path(), io) : failure);
              }
            });
    unused = given.whenComplete((buffer, failure) -> read.cancel(true));
    return given;
  }

  /** As {@code PositionedReadable} has it from Hadoop 3.3.5 on: S3A's. */
  public int minSeekForVectorReads() throws IOException {
    return VectoredCalls.minSeek(theirs);
  }

  /** As {@code PositionedReadable} has it from Hadoop 3.3.5 on: S3A's. */
  public int maxReadSizeForVectorReads() throws IOException {
    return VectoredCalls.maxReadSize(theirs);
  }

  @Override
  public long skip(long count) throws IOException {
    requireOpen();
    synchronized (order) {
      long skipped = Math.max(0, Math.min(count, length() - next));
      next += skipped;
      return skipped;
    }
  }

  @Override
  public int available() throws IOException {
    requireOpen();
    return (int) Math.max(0, Math.min(Integer.MAX_VALUE, length() - getPos()));
  }

  @Override
  public void setReadahead(Long bytes) throws IOException {
    theirs.setReadahead(bytes);
    synchronized (this) {
      readahead = bytes == null ? 0 : bytes;
      if (own != null) {
        own.setReadahead(readahead);
      }
    }
  }

  @Override
  public synchronized void unbuffer() {
    if (own != null) {
      own.unbuffer();
    }
    theirs.unbuffer();
  }

  @Override
  public boolean hasCapability(String capability) {
    return switch (capability.toLowerCase(Locale.ROOT)) {
      case StreamCapabilities.READBYTEBUFFER -> true;
      default -> theirs.hasCapability(capability);
    };
  }

  @Override
  public IOStatistics getIOStatistics() {
    return theirs.getIOStatistics();
  }

  /** Ends reads that wait. Idempotent. */
  @Override
  public void close() throws IOException {
    S3EInputStream stream;
    boolean isFirst;
    synchronized (this) {
      isFirst = !closed;
      closed = true;
      stream = own;
      own = null;
    }
    try (theirs;
        stream) {
      // S3E's first, and S3A's whatever comes of that.
    } finally {
      if (isFirst) {
        account.end(theirs.getIOStatistics(), bytesByS3e.sum());
      }
    }
  }

  @Override
  public String toString() {
    return "S3E of " + path() + " over " + theirs;
  }
}
