package io.s3e.stream;

import io.s3e.block.ByteRange;
import io.s3e.block.ObjectVersion;
import io.s3e.cache.Block;
import io.s3e.fetch.EncodedBodyException;
import io.s3e.fetch.ObjectChangedException;
import io.s3e.fetch.ObjectHandle;
import io.s3e.fetch.ObjectTruncatedException;
import io.s3e.prefetch.ReadPolicy;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * One opening of one object.
 *
 * <p><b>Threads.</b> The moving position ({@code read}, {@code seek}, {@code skip}) belongs to one
 * thread at a time. Positioned reads ({@code readAt}, {@code readFullyAt}, {@code readVectored})
 * may run at any time on any number of threads, beside it and beside each other, and do not wait
 * for each other. {@code close} and {@code unbuffer} may come from any thread; a read that waits
 * then fails soon.
 *
 * <p><b>Memory.</b> Between calls a stream pins no block. It has one small array of its own, which
 * serves reads of a few bytes; everything else is read straight out of shared blocks.
 *
 * <p><b>After close</b> every read fails with "Stream is closed!"; {@code close} itself is
 * idempotent and does not wait for the network.
 *
 * <p><b>Errors</b> tell the object, its size, and the offset and length of the read.
 */
public final class S3EInputStream extends InputStream {
  private final StreamSource source;
  private volatile BlockReader reader;
  private volatile boolean open = true;
  private final AtomicInteger generation = new AtomicInteger();

  private long position;

  /** The block last read from by the moving position, not pinned: it may be dead. */
  private @Nullable Block current;

  private final ShortReads near = new ShortReads();

  /**
   * The generation that {@link #current} and {@link #near} belong to: another thread may end it.
   */
  private int keptSince;

  /**
   * @param source where the stream's readers come from
   * @param handle what is opened
   */
  public S3EInputStream(StreamSource source, ObjectHandle handle) {
    this.source = source;
    this.reader = source.reader(handle);
  }

  /** Length of the object in bytes. */
  public long size() {
    return reader.handle().layout().objectSize();
  }

  /** Offset of the next byte that {@code read} returns. */
  public long position() {
    return position;
  }

  /** ETag of the version that is read; null as long as nobody has told it. */
  public @Nullable String etag() {
    return reader.handle().etag();
  }

  public boolean isOpen() {
    return open;
  }

  /** Counts up with each {@link #unbuffer} and {@link #close}. */
  int generation() {
    return generation.get();
  }

  StreamSource source() {
    return source;
  }

  BlockReader reader() {
    return reader;
  }

  /**
   * Moves the position; no byte is fetched before the next read.
   *
   * @throws EOFException if {@code target} is negative or behind the end of the object
   */
  public void seek(long target) throws IOException {
    requireOpen();
    if (target < 0) {
      throw new EOFException("Cannot seek to a negative offset: " + target + " in " + describe());
    }
    if (target > size()) {
      throw new EOFException("Cannot seek behind the end: " + target + " in " + describe());
    }
    position = target;
  }

  /** {@inheritDoc} Skips to the end at most. Fetches nothing. */
  @Override
  public long skip(long count) throws IOException {
    requireOpen();
    long skipped = Math.max(0, Math.min(count, size() - position));
    position += skipped;
    return skipped;
  }

  /** {@inheritDoc} Bytes of the current block that are in memory. */
  @Override
  public int available() throws IOException {
    requireOpen();
    long at = position;
    if (at >= size()) {
      return 0;
    }
    Block block = reader.acquireReady(at);
    if (block == null) {
      return 0;
    }
    long left = block.end() - at;
    block.unpin();
    return (int) left;
  }

  /** {@inheritDoc} */
  @Override
  public int read() throws IOException {
    startRead();
    int index = near.indexOf(position);
    if (index < 0) {
      if (position >= size() || !fetchNear()) {
        return -1;
      }
      index = near.indexOf(position);
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
    int index = near.indexOf(position);
    if (index < 0 && length <= ShortReads.MAX_BYTES) {
      if (position >= size() || !fetchNear()) {
        return -1;
      }
      index = near.indexOf(position);
    }
    if (index >= 0) {
      int count = near.copy(index, target, offset, length);
      position += count;
      return count;
    }
    return readBlocks(new Target.OfArray(target, offset, length));
  }

  /** Reads as {@link #read(byte[], int, int)} into the space that remains in {@code target}. */
  public int read(ByteBuffer target) throws IOException {
    startRead();
    if (!target.hasRemaining()) {
      return 0;
    }
    return readBlocks(new Target.OfBuffer(target));
  }

  /**
   * Fills the array's part.
   *
   * @throws EOFException if the object ends first; the bytes before its end are read then
   */
  public void readFully(byte[] target, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, target.length);
    int done = 0;
    while (done < length) {
      int count = read(target, offset + done, length - done);
      if (count < 0) {
        throw endOfObject(position, length - done);
      }
      done += count;
    }
  }

  /**
   * Checks that the stream is open, and forgets what was kept before the last {@link #unbuffer}.
   */
  private void startRead() throws IOException {
    requireOpen();
    int now = generation.get();
    if (now != keptSince) {
      keptSince = now;
      current = null;
      near.clear();
    }
  }

  /** Copies what follows the position into the array for short reads; false at the end. */
  private boolean fetchNear() throws IOException {
    long at = position;
    int count = readBlocks(near.refill(at));
    position = at;
    near.filled(Math.max(0, count));
    return count > 0;
  }

  /** Moves blocks' bytes to the target from the position on, as far as they are in memory. */
  private int readBlocks(Target target) throws IOException {
    long started = position;
    for (; ; ) {
      try {
        BlockReader.Step step = BlockReader.Step.MOVE;
        while (target.remaining() > 0 && position < size()) {
          Block block = pinCurrent();
          if (block == null) {
            block = pinNext(position == started, step, target.remaining());
            step = BlockReader.Step.CONTINUATION;
          }
          if (block == null) {
            break;
          }
          try {
            position += target.copy(block, position);
          } finally {
            block.unpin();
          }
        }
        return position > started ? (int) (position - started) : -1;
      } catch (ObjectTruncatedException e) {
        truncate(e, reader);
      } catch (EncodedBodyException e) {
        source.confirmEncoding(reader.handle(), e);
      } catch (IOException e) {
        throw describe(e, position, target.remaining());
      }
    }
  }

  /** The block last read from, pinned, if it holds the position and is alive; null otherwise. */
  private @Nullable Block pinCurrent() {
    Block block = current;
    if (block != null && position >= block.start() && position < block.end() && block.tryPin()) {
      return block;
    }
    return null;
  }

  /** The block at the position, pinned; null if the reader would have to wait and may not. */
  private @Nullable Block pinNext(boolean mayWait, BlockReader.Step step, int wanted)
      throws IOException {
    requireOpen();
    BlockReader from = reader;
    if (!mayWait) {
      Block ready = from.acquireReady(position);
      if (ready == null) {
        return null;
      }
      ready.unpin();
    }
    Block block = from.acquire(position, Math.min(size(), position + wanted), step, deadline());
    current = block;
    return block;
  }

  /**
   * Reads at least one byte from {@code at}, wherever the stream's position is, and leaves that
   * alone.
   *
   * @return how many bytes; -1 at or behind the end of the object
   */
  public int readAt(long at, byte[] target, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, target.length);
    return readAt(at, new Target.OfArray(target, offset, length));
  }

  /** Reads as {@link #readAt(long, byte[], int, int)} into the space that remains. */
  public int readAt(long at, ByteBuffer target) throws IOException {
    return readAt(at, new Target.OfBuffer(target));
  }

  private int readAt(long at, Target target) throws IOException {
    requireOpen();
    if (at < 0) {
      throw new EOFException("Cannot read at a negative offset: " + at + " in " + describe());
    }
    if (target.remaining() == 0) {
      return 0;
    }
    long deadline = deadline();
    long next = at;
    for (; ; ) {
      BlockReader from = reader;
      try {
        long end = Math.min(size(), at + target.requested());
        while (next < end) {
          BlockReader.Step step =
              next == at ? BlockReader.Step.POSITIONED : BlockReader.Step.CONTINUATION;
          Block block = from.acquire(next, end, step, deadline);
          try {
            next += target.copy(block, next);
          } finally {
            block.unpin();
          }
        }
        return next > at ? (int) (next - at) : -1;
      } catch (ObjectTruncatedException e) {
        truncate(e, from);
      } catch (EncodedBodyException e) {
        source.confirmEncoding(from.handle(), e);
      } catch (IOException e) {
        throw describe(e, next, target.remaining());
      }
    }
  }

  /**
   * Fills the array's part from {@code at} on.
   *
   * @throws EOFException if the object ends first
   */
  public void readFullyAt(long at, byte[] target, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, target.length);
    if (length > 0 && readAt(at, target, offset, length) < length) {
      throw endOfObject(at, length);
    }
  }

  /** Fills the space that remains in {@code target}; otherwise as above. */
  public void readFullyAt(long at, ByteBuffer target) throws IOException {
    int length = target.remaining();
    if (length > 0 && readAt(at, target) < length) {
      throw endOfObject(at, length);
    }
  }

  /**
   * Reads many ranges at once. All GETs that memory allows are sent before this returns; ranges
   * close to each other share one.
   *
   * <p>Either all ranges are submitted or, with an exception from this call, none. Each future gets
   * a buffer from {@code allocate} with the range's bytes from position 0 to its limit, or fails
   * with an {@link IOException} after its buffer went to {@code release}. Futures complete on the
   * engine's threads. {@link #close} and {@link #unbuffer} fail those that are pending.
   *
   * @param ranges in any order; may be empty, ranges may be empty
   * @return one future per range, in the given order
   * @throws IllegalArgumentException if two ranges overlap
   * @throws EOFException if a range goes behind the end of the object
   */
  public List<CompletableFuture<ByteBuffer>> readVectored(
      List<ByteRange> ranges, IntFunction<ByteBuffer> allocate, Consumer<ByteBuffer> release)
      throws IOException {
    requireOpen();
    return VectoredRead.submit(this, ranges, allocate, release);
  }

  /**
   * Says that these bytes will be read soon: starts the GETs for what is missing of them, nearest
   * first, as far as memory and concurrency allow, and does not wait. What found no room is fetched
   * when it is read.
   */
  public void willRead(ByteRange range) throws IOException {
    requireOpen();
    reader.announce(range);
  }

  /**
   * Gives back everything the stream holds: cancels what is under way, lets prefetched blocks go
   * and fails pending vectored reads. The stream stays usable.
   */
  public void unbuffer() {
    generation.incrementAndGet();
    reader.release();
  }

  /** Says what order of reads to expect from now on. */
  public void setPolicy(ReadPolicy policy) {
    reader.setPolicy(policy);
  }

  /** Says which bytes will be needed: prefetch stops at {@code end}, -1 if unknown. */
  public void setSplit(long start, long end) {
    reader.setSplit(start, end);
  }

  /**
   * Asks for a readahead of at least so many bytes once reads are sequential; 0 for the default.
   */
  public void setReadahead(long bytes) {
    reader.setMinimumReadahead(bytes);
  }

  /** {@inheritDoc} Cancels what is in flight; idempotent. */
  @Override
  public void close() {
    if (open) {
      open = false;
      reader.handle().close();
      unbuffer();
    }
  }

  private long deadline() {
    return System.nanoTime() + source.settings().readTimeout().toNanos();
  }

  private void requireOpen() throws IOException {
    if (!open) {
      throw closed();
    }
  }

  private IOException closed() {
    return new IOException("Stream is closed! " + describe());
  }

  EOFException endOfObject(long at, long length) {
    return new EOFException(
        "End of object reached: "
            + length
            + " bytes wanted from offset "
            + at
            + " of "
            + describe());
  }

  /** The object ended earlier than its opener said: go on with its real size. */
  private synchronized void truncate(ObjectTruncatedException cause, BlockReader used)
      throws IOException {
    if (reader != used) {
      return;
    }
    long actual = source.actualSize(used.handle(), cause);
    used.release();
    current = null;
    reader = source.reader(used.handle().resized(actual));
    if (!open) {
      reader.handle().close();
    }
  }

  private String describe() {
    return reader.handle().version().toString();
  }

  /** The same error with the read and the object told; types that callers know are kept. */
  private IOException describe(IOException cause, long at, long length) {
    if (!open) {
      return closed();
    }
    String message =
        "Reading "
            + length
            + " bytes at offset "
            + at
            + " of "
            + describe()
            + " failed: "
            + cause.getMessage();
    if (cause instanceof ObjectChangedException) {
      return new ObjectChangedException(message, cause);
    }
    if (cause instanceof InterruptedIOException) {
      return (IOException) new InterruptedIOException(message).initCause(cause);
    }
    if (cause instanceof FileNotFoundException || cause instanceof EOFException) {
      return cause;
    }
    return new IOException(message, cause);
  }

  @Override
  public String toString() {
    ObjectVersion version = reader.handle().version();
    return "S3EInputStream{" + version + ", position " + position + (open ? "" : ", closed") + "}";
  }
}
