package io.s3e.stream;

import io.s3e.block.ByteRange;
import io.s3e.fetch.DiskBytes;
import io.s3e.fetch.Patience;
import io.s3e.memory.Block;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The application's buffer on its way to hold one range: filled from disk, by threads of the cache
 * there, and block by block, as far as blocks are there. Belongs to one thread at a time.
 */
final class RangeFilling {

  /** How far {@link #advance} has come. */
  enum Progress {
    /** All bytes are in the buffer. */
    DONE,
    /** {@link #expected} has to settle first. */
    EXPECTING,
    /** {@link #fromDisk} has to be over first. */
    READING,
    /** Only a thread that may wait gets on. */
    BLOCKED
  }

  /** Whether the thread that advances may wait, for memory or for the store. */
  enum Caller {
    MAY_WAIT,
    MUST_NOT_WAIT
  }

  private final S3EInputStream stream;
  private final ByteRange range;
  private final long fetchEnd;
  private final long nextRange;
  private final Pieces pieces;
  private final Patience patience;
  private final ByteBuffer buffer;
  private final Target target;
  private final ByteBuffer filled;
  private long next;
  private @Nullable Expected expected;
  private @Nullable DiskBytes fromDisk;

  /** Whether the disk has not brought the next byte, as it was to: S3 is asked. */
  private boolean isLostOnDisk;

  /** The failure for which the object has to be looked at before the next block. */
  private @Nullable IOException unrecovered;

  /**
   * @param fetchEnd where the bytes end that are asked for together with the range, at its end or
   *     behind it
   * @param nextRange offset of the first range behind this one that the same read wants bytes of: a
   *     block that it begins in counts as read when that range has its bytes, for until then it
   *     must not be evicted
   * @param pieces how what is missing is cut
   */
  RangeFilling(
      S3EInputStream stream,
      ByteRange range,
      long fetchEnd,
      long nextRange,
      Pieces pieces,
      ByteBuffer buffer,
      Patience patience) {
    this.stream = stream;
    this.range = range;
    this.fetchEnd = fetchEnd;
    this.nextRange = nextRange;
    this.pieces = pieces;
    this.patience = patience;
    this.buffer = buffer;
    this.filled = buffer.duplicate();
    filled.limit(filled.position() + Math.toIntExact(range.length()));
    this.target = new Target.OfBuffer(filled);
    this.next = range.start();
  }

  /** The application's buffer; its bytes are from 0 to its limit once it is filled. */
  ByteBuffer buffer() {
    return buffer;
  }

  /** The block to wait for. */
  @Nullable Expected expected() {
    return expected;
  }

  /** The bytes from disk to wait for. */
  @Nullable DiskBytes fromDisk() {
    return fromDisk;
  }

  /** Copies what is there and asks for what is not. */
  Progress advance(Caller caller) throws IOException {
    while (next < range.end()) {
      if (next >= stream.size()) {
        throw stream.failures().endOfObject(range.start(), range.length());
      }
      try {
        Progress progress = advanceOnce(caller);
        if (progress != null) {
          return progress;
        }
      } catch (IOException e) {
        if (caller == Caller.MUST_NOT_WAIT && ReadFailures.isRecoverable(e)) {
          unrecovered = e;
          return Progress.BLOCKED;
        }
        stream.failures().recover(e, next, target.remaining());
      }
    }
    stream.reader().showPlanner(range.start(), range.end(), target);
    buffer.position(0);
    buffer.limit(filled.position());
    return Progress.DONE;
  }

  /** Null if it may be called again at once. */
  private @Nullable Progress advanceOnce(Caller caller) throws IOException {
    IOException unknown = unrecovered;
    if (unknown != null) {
      unrecovered = null;
      throw unknown;
    }
    BlockReader reader = stream.reader();
    if (fromDisk != null) {
      takeFromDisk(fromDisk);
      return null;
    }
    if (expected != null) {
      takeExpected(reader);
      return null;
    }
    Block ready = reader.findReady(next, range.end(), ReadStep.CONTINUATION);
    if (ready != null) {
      copy(reader, ready);
      ready.unpin();
      return null;
    }
    if (!isLostOnDisk) {
      fromDisk = reader.expectFromDisk(next, range.end(), target);
      if (fromDisk != null) {
        reader.handle().progress().onRead(next, range.end());
        return Progress.READING;
      }
    }
    expected = reader.expect(next, fetchEnd, pieces);
    if (expected == null) {
      if (caller == Caller.MUST_NOT_WAIT) {
        return Progress.BLOCKED;
      }
      expected = reader.expectWaiting(next, fetchEnd, pieces, patience);
    }
    return Progress.EXPECTING;
  }

  private void takeExpected(BlockReader reader) throws IOException {
    try (Expected settled = expected) {
      expected = null;
      if (settled != null && settled.isReady() && next < settled.block().end()) {
        reader.arrived(settled, next, range.end());
        copy(reader, settled.block());
      }
    }
  }

  private void takeFromDisk(DiskBytes bytes) {
    fromDisk = null;
    int count = bytes.end();
    target.filled(count);
    next += count;
    isLostOnDisk = count == 0;
    if (count > 0) {
      patience.progressed();
    }
  }

  private void copy(BlockReader reader, Block block) {
    if (nextRange >= block.end()) {
      reader.touch(block);
    }
    next += target.copy(block, next);
    isLostOnDisk = false;
    patience.progressed();
  }

  /** The error of a range whose deadline has passed. */
  IOException late() {
    Expected missing = expected;
    IOException cause = missing == null ? null : missing.late();
    return stream
        .failures()
        .describe(
            cause == null ? new SocketTimeoutException("its deadline has passed") : cause,
            next,
            target.remaining());
  }

  boolean isLate() {
    return patience.isOver();
  }

  /** Nothing is waited for any more. */
  void stop() {
    Expected missing = expected;
    expected = null;
    if (missing != null) {
      missing.close();
    }
    DiskBytes bytes = fromDisk;
    fromDisk = null;
    if (bytes != null) {
      int unused = bytes.end();
    }
  }
}
