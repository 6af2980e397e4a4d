// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.stream;

import io.s3e.hadoop.client.FailedRead;
import io.s3e.hadoop.client.FailureTranslation;
import io.s3e.hadoop.client.ReadEngine;
import io.s3e.hadoop.stats.StreamStatistics;
import io.s3e.stream.S3EInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.apache.hadoop.fs.ByteBufferPositionedReadable;
import org.apache.hadoop.fs.ByteBufferReadable;
import org.apache.hadoop.fs.CanSetReadahead;
import org.apache.hadoop.fs.CanUnbuffer;
import org.apache.hadoop.fs.FSExceptionMessages;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.fs.s3a.statistics.S3AInputStreamStatistics;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsSource;
import org.apache.hadoop.fs.statistics.StreamStatisticNames;
import org.jspecify.annotations.Nullable;

/**
 * An open file on S3, with the promises of Hadoop's streams and of S3A's in particular. Bytes come
 * from {@link S3EInputStream}; here are Hadoop's interfaces, S3A's statistics and exceptions.
 *
 * <p>Nothing is sent before the first read. A seek past the end is legal, as in S3A: reads there
 * return -1.
 *
 * <p>Positioned and vectored reads may be called by any number of threads at once and do not block
 * each other. Reads at the stream's own position exclude each other. {@link #close} may be called
 * by any thread and ends a read that is waiting.
 */
public final class S3EHadoopInputStream extends FSInputStream
    implements S3EReadable,
        ByteBufferReadable,
        ByteBufferPositionedReadable,
        CanSetReadahead,
        CanUnbuffer,
        StreamCapabilities,
        IOStatisticsSource {

  private final OpenStream open;
  private final StreamStatistics statistics;
  private final Cleaner.Cleanable leak;

  /** Where the next read starts; may lie past the end. Guarded by this. */
  private long position;

  public S3EHadoopInputStream(StreamSource source, ReadEngine engine) {
    source.requests().opened(source.etag(), source.versionId());
    open = new OpenStream(source, engine);
    statistics = open.counting();
    leak = LeakReport.watch(this, open);
  }

  @Override
  public void attach(ReadEngine engine, Opening opening) {
    open.attach(engine, opening);
  }

  boolean isOpen() {
    return open.isOpen();
  }

  @Override
  public synchronized long getPos() {
    return position;
  }

  /**
   * Moves the position; sends nothing.
   *
   * @throws EOFException if {@code target} is negative
   */
  @Override
  public synchronized void seek(long target) throws IOException {
    open.checkOpen();
    if (target < 0) {
      throw new EOFException(FSExceptionMessages.NEGATIVE_SEEK + " " + target);
    }
    if (open.length() > 0) {
      position = target;
    }
  }

  @Override
  public boolean seekToNewSource(long target) {
    return false;
  }

  /** Moves the position forward, at most to the end of the file. */
  @Override
  public synchronized long skip(long count) throws IOException {
    open.checkOpen();
    long skipped = Math.max(0, Math.min(count, open.length() - position));
    position += skipped;
    return skipped;
  }

  /** All that is left, as S3A's classic stream tells it: some programs take 0 for the end. */
  @Override
  public synchronized int available() throws IOException {
    open.checkOpen();
    return (int) Math.max(0, Math.min(Integer.MAX_VALUE, open.length() - position));
  }

  @Override
  public synchronized int read() throws IOException {
    open.checkOpen();
    if (position >= open.length()) {
      return -1;
    }
    try {
      S3EInputStream stream = open.reading();
      int value = isAtPosition(stream) ? stream.read() : -1;
      if (value >= 0) {
        position++;
        statistics.bytesRead(1);
      }
      return value;
    } catch (IOException e) {
      throw failed("read", position, 1, e);
    }
  }

  /** At least one byte, or -1 at the end of the file. */
  @Override
  public synchronized int read(byte[] buffer, int offset, int count) throws IOException {
    open.checkOpen();
    validatePositionedReadArgs(position, buffer, offset, count);
    if (count == 0) {
      return 0;
    }
    return position >= open.length()
        ? -1
        : advance(count, stream -> stream.read(buffer, offset, count));
  }

  /** As {@link #read(byte[], int, int)}; 0 if the buffer has no room. */
  @Override
  public synchronized int read(ByteBuffer buffer) throws IOException {
    open.checkOpen();
    if (!buffer.hasRemaining()) {
      return 0;
    }
    return position >= open.length()
        ? -1
        : advance(buffer.remaining(), stream -> stream.read(buffer));
  }

  @Override
  public int read(long from, byte[] buffer, int offset, int count) throws IOException {
    open.checkOpen();
    validatePositionedReadArgs(from, buffer, offset, count);
    if (count == 0) {
      return 0;
    }
    return positioned(from, count, stream -> stream.readAt(from, buffer, offset, count));
  }

  @Override
  public int read(long from, ByteBuffer buffer) throws IOException {
    open.checkOpen();
    checkFrom(from);
    if (!buffer.hasRemaining()) {
      return 0;
    }
    return positioned(from, buffer.remaining(), stream -> stream.readAt(from, buffer));
  }

  /**
   * @throws EOFException if the file ends before {@code count} bytes; the buffer's content is then
   *     undefined
   */
  @Override
  public void readFully(long from, byte[] buffer, int offset, int count) throws IOException {
    open.checkOpen();
    validatePositionedReadArgs(from, buffer, offset, count);
    fully(from, count, stream -> stream.readFullyAt(from, buffer, offset, count));
  }

  @Override
  public void readFully(long from, ByteBuffer buffer) throws IOException {
    open.checkOpen();
    checkFrom(from);
    fully(from, buffer.remaining(), stream -> stream.readFullyAt(from, buffer));
  }

  @Override
  public int minSeekForVectorReads() {
    return open.source().context().getVectoredIOContext().getMinSeekForVectorReads();
  }

  @Override
  public int maxReadSizeForVectorReads() {
    return open.source().context().getVectoredIOContext().getMaxReadSizeForVectorReads();
  }

  @Override
  public void readVectored(List<? extends FileRange> ranges, IntFunction<ByteBuffer> allocate)
      throws IOException {
    readVectored(ranges, allocate, buffer -> {});
  }

  /**
   * Gives every range a future, or throws and gives none. A buffer that was allocated for a range
   * that fails goes to {@code release}.
   */
  @Override
  public void readVectored(
      List<? extends FileRange> ranges,
      IntFunction<ByteBuffer> allocate,
      Consumer<ByteBuffer> release)
      throws IOException {
    Objects.requireNonNull(allocate, "allocate");
    Objects.requireNonNull(release, "release");
    open.checkOpen();
    try {
      VectoredReads.submit(open, ranges, allocate, release, this);
    } catch (IOException e) {
      throw failed("readVectored", 0, open.length(), e);
    }
  }

  /** Gives back memory and cancels requests; the stream stays usable. Legal after close. */
  @Override
  public void unbuffer() {
    S3EInputStream stream = open.ifReading();
    if (stream != null && open.isOpen()) {
      stream.unbuffer();
    }
    statistics.unbuffered();
  }

  /**
   * @param readahead in bytes; null for the default
   * @throws IllegalArgumentException if negative
   */
  @Override
  public void setReadahead(@Nullable Long readahead) {
    if (readahead != null && readahead < 0) {
      throw new IllegalArgumentException("Negative readahead value " + readahead);
    }
    open.setReadahead(readahead == null ? 0 : readahead);
  }

  @Override
  public void close() throws IOException {
    try {
      open.close();
    } finally {
      leak.clean();
    }
  }

  @Override
  public boolean hasCapability(String capability) {
    return switch (capability.toLowerCase(Locale.ROOT)) {
      case StreamCapabilities.READAHEAD,
          StreamCapabilities.UNBUFFER,
          StreamCapabilities.VECTOREDIO,
          StreamCapabilities.READBYTEBUFFER,
          StreamCapabilities.PREADBYTEBUFFER,
          StreamCapabilities.IOSTATISTICS,
          StreamCapabilities.IOSTATISTICS_CONTEXT,
          StreamStatisticNames.STREAM_LEAKS ->
          true;
      default -> false;
    };
  }

  @Override
  public IOStatistics getIOStatistics() {
    return statistics.statistics();
  }

  S3AInputStreamStatistics s3aStatistics() {
    return open.source().statistics();
  }

  @Override
  public String toString() {
    // Without the stream's lock: a thread dump or a log line must not wait for a read.
    return "S3EHadoopInputStream{"
        + open.source().path()
        + ", length="
        + open.length()
        + ", policy="
        + open.policy()
        + (open.isOpen() ? ", open" : ", closed")
        + ", "
        + statistics
        + "}";
  }

  /**
   * Moves the core's stream to where the next read starts; false if that is behind the end, which
   * may have turned out to be nearer than S3A or the caller said.
   */
  private boolean isAtPosition(S3EInputStream stream) throws IOException {
    long from = stream.position();
    if (from != position) {
      try {
        stream.seek(position);
      } catch (EOFException e) {
        return false;
      }
      statistics.seek(from, position);
    }
    return true;
  }

  private int advance(int requested, Read read) throws IOException {
    statistics.readStarted(position, requested);
    try {
      S3EInputStream stream = open.reading();
      int count = isAtPosition(stream) ? read.from(stream) : -1;
      position += Math.max(0, count);
      statistics.readCompleted(requested, count);
      return count;
    } catch (IOException e) {
      throw failed("read", position, requested, e);
    }
  }

  private int positioned(long from, int requested, Read read) throws IOException {
    if (from >= open.length()) {
      return -1;
    }
    statistics.readStarted(from, requested);
    try {
      int count = read.from(open.reading());
      statistics.readCompleted(requested, count);
      return count;
    } catch (IOException e) {
      throw failed("read", from, requested, e);
    }
  }

  private void fully(long from, int requested, FullRead read) throws IOException {
    statistics.readFullyStarted(from, requested);
    if (requested == 0) {
      return;
    }
    long length = open.length();
    if (from > length - requested) {
      throw new EOFException(
          FSExceptionMessages.EOF_IN_READ_FULLY
              + ": "
              + requested
              + " bytes at "
              + from
              + " of "
              + open.source().path()
              + " with "
              + length
              + " bytes");
    }
    // A read too: S3A's stream does this by those, one or as many as a socket makes of it.
    statistics.readStarted(from, requested);
    try {
      read.from(open.reading());
      statistics.readCompleted(requested, requested);
    } catch (IOException e) {
      throw failed("readFully", from, requested, e);
    }
  }

  private static void checkFrom(long from) throws EOFException {
    if (from < 0) {
      throw new EOFException(FSExceptionMessages.NEGATIVE_SEEK + " " + from);
    }
  }

  private IOException failed(String operation, long from, long bytes, IOException failure) {
    if (open.isOpen() && !(failure instanceof EOFException)) {
      s3aStatistics().readException();
    }
    FailedRead read = new FailedRead(operation, open.source().path(), from, bytes, open.length());
    return FailureTranslation.translate(read, failure);
  }

  /** A read that may return fewer bytes than asked. */
  private interface Read {
    int from(S3EInputStream stream) throws IOException;
  }

  /** A read that returns all bytes asked or throws. */
  private interface FullRead {
    void from(S3EInputStream stream) throws IOException;
  }
}
