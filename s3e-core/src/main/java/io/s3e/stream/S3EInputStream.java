// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import io.s3e.block.ByteRange;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * One opening of one object.
 *
 * <p><b>Threads.</b> The moving position ({@code read}, {@code seek}, {@code skip}) belongs to one
 * thread at a time. Positioned reads ({@code readAt}, {@code readFullyAt}, {@code readVectored})
 * may run at any time on any number of threads, beside it and beside each other, and do not wait
 * for each other. {@code close} and {@code unbuffer} may come from any thread. A {@code close}
 * fails reads that wait, soon; an {@code unbuffer} leaves them alone. Both end pending vectored
 * reads at once.
 *
 * <p><b>Memory.</b> Between calls a stream pins no block. It has one small array of its own, which
 * serves reads of a few bytes; everything else is read straight out of shared blocks, or from local
 * disk.
 *
 * <p><b>After close</b> every read fails with "Stream is closed!"; {@code close} itself is
 * idempotent and does not wait for the network.
 *
 * <p><b>Errors</b> tell the object, its size, and the offset and length of the read.
 */
public final class S3EInputStream extends InputStream {
  final BlockReader reader;

  /** Vectored reads that are not over. */
  private final Set<VectoredRead> vectored = ConcurrentHashMap.newKeySet();

  private volatile boolean open = true;

  /** Whether {@link #moving} and {@link #near} keep what an {@link #unbuffer} has given back. */
  private volatile boolean isStale;

  private long position;

  /** Of the moving position. */
  private final Ask moving;

  private final ShortReads near = new ShortReads();

  /** {@code reader} brings the blocks of what is opened. */
  S3EInputStream(BlockReader reader) {
    this.reader = reader;
    this.moving = Ask.ofReads(reader, ReadStep.MOVE);
  }

  /** Length of the object in bytes: less than its opener told once the store has said so. */
  public long size() {
    return reader.handle.size();
  }

  /** As {@link #size}, of all that the store has, be it more than its opener told. */
  public long storedSize() {
    return reader.handle.storedSize();
  }

  /** Offset of the next byte that {@code read} returns. */
  public long position() {
    return position;
  }

  /** ETag of the version that is read; null as long as nobody has told it. */
  public @Nullable String etag() {
    return reader.handle.etag();
  }

  public boolean isOpen() {
    return open;
  }

  /**
   * Moves the position; no byte is fetched before the next read.
   *
   * @throws EOFException if {@code target} is negative or behind the end of the object
   */
  public void seek(long target) throws IOException {
    requireOpen();
    if (target < 0 || target > size()) {
      String where = target < 0 ? "to a negative offset: " : "behind the end: ";
      throw new EOFException("Cannot seek " + where + target + " in " + reader.failures().object());
    }
    position = target;
    if (moving.isWithinLast(target)) {
      reader.pump.onSeek(target);
    }
  }

  /** {@inheritDoc} Skips to the end at most. Fetches nothing. */
  @Override
  public long skip(long count) throws IOException {
    requireOpen();
    long skipped = Math.max(0, Math.min(count, size() - position));
    position += skipped;
    return skipped;
  }

  /** All that is left, in memory or not: some programs, {@code GZIPInputStream} too, end at 0. */
  @Override
  public int available() throws IOException {
    requireOpen();
    return (int) Math.max(0, Math.min(Integer.MAX_VALUE, size() - position));
  }

  /** {@inheritDoc} */
  @Override
  public int read() throws IOException {
    startRead();
    int index = near();
    if (index < 0) {
      return -1;
    }
    position++;
    return near.byteAt(index);
  }

  /**
   * Reads at least one byte and at most {@code length}; waits for the first byte only. Bytes of the
   * target behind those read stay untouched.
   *
   * @return how many bytes, or -1 at the end of the object
   */
  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, target.length);
    startRead();
    if (length == 0) {
      return 0;
    }
    boolean isShort = length <= ShortReads.MAX_BYTES;
    int index = isShort ? near() : near.indexOf(position);
    if (index < 0) {
      return isShort ? -1 : move(ByteBuffer.wrap(target, offset, length));
    }
    int count = near.copy(index, target, offset, length);
    position += count;
    return count;
  }

  /** Reads as {@link #read(byte[], int, int)} into the space that remains in {@code target}. */
  public int read(ByteBuffer target) throws IOException {
    startRead();
    return target.hasRemaining() ? move(target) : 0;
  }

  /**
   * Fills the array's part.
   *
   * @throws EOFException if the object ends first; the bytes before its end are read then
   */
  public void readFully(byte[] target, int offset, int length) throws IOException {
    int done = readNBytes(target, offset, length);
    if (done < length) {
      throw reader.failures().endOfObject(position, length - done);
    }
  }

  /** Checks that the stream is open; forgets what was kept before the last {@link #unbuffer}. */
  private void startRead() throws IOException {
    requireOpen();
    if (isStale) {
      isStale = false;
      moving.forget();
      near.clear();
    }
  }

  /** Index in the array for short reads of the byte at the position, fetched; -1 at the end. */
  private int near() throws IOException {
    int index = near.indexOf(position);
    if (index >= 0 || position >= size()) {
      return index;
    }
    near.filled(Math.max(0, moving.read(position, near.refill(position))));
    return near.indexOf(position);
  }

  /** Reads from the position on, and moves that over the bytes that were read. */
  private int move(ByteBuffer target) throws IOException {
    int count = moving.read(position, target);
    position += Math.max(0, count);
    return count;
  }

  /**
   * Reads at least one byte from {@code at}, wherever the stream's position is, and leaves that
   * alone.
   *
   * @return how many bytes; -1 at or behind the end of the object
   */
  public int readAt(long at, byte[] target, int offset, int length) throws IOException {
    return readAt(at, ByteBuffer.wrap(target, offset, length));
  }

  /** Reads as {@link #readAt(long, byte[], int, int)} into the space that remains. */
  public int readAt(long at, ByteBuffer target) throws IOException {
    requireOpen();
    if (at < 0) {
      throw new EOFException(
          "Cannot read at a negative offset: " + at + " in " + reader.failures().object());
    }
    return target.hasRemaining() ? Ask.ofReads(reader, ReadStep.POSITIONED).read(at, target) : 0;
  }

  /**
   * Fills the array's part from {@code at} on.
   *
   * @throws EOFException if the object ends first
   */
  public void readFullyAt(long at, byte[] target, int offset, int length) throws IOException {
    readFullyAt(at, ByteBuffer.wrap(target, offset, length));
  }

  /** Fills the space that remains in {@code target}; otherwise as above. */
  public void readFullyAt(long at, ByteBuffer target) throws IOException {
    int length = target.remaining();
    if (length > 0 && readAt(at, target) < length) {
      throw reader.failures().endOfObject(at, length);
    }
  }

  /**
   * Reads many ranges at once. All GETs that memory allows are sent before this returns; ranges
   * close to each other share one.
   *
   * <p>Either all ranges are submitted or, with an exception from this call, none. Each future gets
   * a buffer from {@code allocate} with the range's bytes from position 0 to its limit, or fails
   * with an {@link IOException} after its buffer went to {@code release}. Futures complete on the
   * engine's threads. {@link #close} and {@link #unbuffer} fail those that are pending, at once,
   * with an {@link InterruptedIOException}. A future that the caller cancels or completes gives its
   * buffer to {@code release}, and its GET is cancelled if nobody else wants it.
   *
   * @param ranges in any order; may be empty, ranges may be empty
   * @return one future per range, in the given order
   * @throws IllegalArgumentException if two ranges overlap, or one has 2 GiB or more
   * @throws EOFException if a range goes behind the end of the object
   */
  public List<CompletableFuture<ByteBuffer>> readVectored(
      List<ByteRange> ranges, IntFunction<ByteBuffer> allocate, Consumer<ByteBuffer> release)
      throws IOException {
    requireOpen();
    VectoredRead read = new VectoredRead(reader, ranges, allocate, release, vectored);
    if (!ranges.isEmpty()) {
      vectored.add(read);
    }
    if (!open) {
      // Closed meanwhile, by somebody who may not have seen it.
      read.end(ReadFailures.CLOSED);
    }
    return read.start();
  }

  /**
   * Says that these bytes will be read soon: starts the GETs for what is missing of them, nearest
   * first, as far as memory and concurrency allow, and does not wait. A range that finds no room is
   * fetched when it is read.
   *
   * @return the offset up to which all of it is in memory, on disk or on its way
   */
  public long willRead(ByteRange range) throws IOException {
    requireOpen();
    return reader.announce(range, Pieces.OF_READ);
  }

  /**
   * Gives back everything the stream holds: cancels what is under way and no read waits for, lets
   * prefetched blocks go and fails pending vectored reads. The stream stays usable.
   */
  public void unbuffer() {
    giveBack("given up by unbuffer()");
  }

  private void giveBack(String why) {
    isStale = true;
    vectored.forEach(read -> read.end(why));
    reader.pump.release();
  }

  /** Asks for a readahead of so many bytes or more once reads are sequential; 0: the default. */
  public void setReadahead(long bytes) {
    reader.pump.setMinimum(bytes);
  }

  /** {@inheritDoc} Cancels what is in flight; idempotent. */
  @Override
  public void close() {
    if (open) {
      open = false;
      reader.handle.close();
      giveBack(ReadFailures.CLOSED);
    }
  }

  private void requireOpen() throws IOException {
    if (!open) {
      throw reader.failures().closed();
    }
  }

  @Override
  public String toString() {
    String at = ", position " + position + (open ? "" : ", closed");
    return "S3EInputStream{" + reader.failures().object() + at + "}";
  }
}
