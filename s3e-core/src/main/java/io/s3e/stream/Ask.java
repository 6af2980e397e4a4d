// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.client.RequestFailure;
import io.s3e.fetch.Arrival;
import io.s3e.fetch.DiskBytes;
import io.s3e.fetch.Fetcher;
import io.s3e.fetch.ObjectHandle;
import io.s3e.fetch.Patience;
import io.s3e.memory.Block;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.prefetch.Ahead.Change;
import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of an object from an offset on, on their way into the application's memory: the one
 * loop of all reads. Takes what memory has, then what disk has, asks S3 for the rest, and waits for
 * the first block of that.
 *
 * <p><b>Three callers.</b> A moving read waits for its first byte, and goes on as far as bytes are
 * on disk or in memory; so it fails before a byte is copied or not at all. A positioned read waits
 * for all of its bytes. Both wait in {@link #read}, on the thread that calls. A range of a vectored
 * read is {@linkplain #advance advanced} by threads of the engine, none of which waits for a block.
 *
 * <p><b>States.</b> Between two calls of {@link #advance} an ask awaits a block ({@link #arrival}),
 * bytes from disk ({@link #fromDisk}), or a thread that may wait; never two of them. {@link #stop}
 * ends what is awaited, and an ask that is done awaits nothing.
 *
 * <p>An ask of moving reads is used again for each of them, and remembers the block that it last
 * took bytes of: the {@link Pump} knows of reads in it. Belongs to one thread at a time.
 */
final class Ask {
  /** What the thread that advances an ask may wait for. */
  enum Caller {
    /** Blocks, bytes from disk, memory and the store's word. */
    WAITS,
    /** Memory, and the store's word. */
    WAITS_FOR_ROOM,
    /** Nothing. */
    NEVER_WAITS
  }

  /** A wait is a stall from here on; less is the hand-over between two threads. */
  private static final long STALL_NANOS = 200_000;

  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  private final BlockReader reader;
  private final Fetcher fetcher;
  private final ObjectHandle handle;
  private final ReadStep begin;
  private final Pieces pieces;

  /** Null until a read without a patience of its own comes to a block that is not in hand. */
  private @Nullable Patience patience;

  /** Takes the bytes, from its position on. */
  private ByteBuffer target = NOTHING;

  private long from;
  private long next;

  /** Where the bytes end that are asked for together; at the end of the read or behind it. */
  private long fetchEnd;

  /**
   * Where the next range of the same vectored read begins: until that range has its bytes, a block
   * that it begins in must not be evicted.
   */
  private long nextRange = Long.MAX_VALUE;

  @Nullable Arrival arrival;
  @Nullable DiskBytes fromDisk;

  /** The block that bytes were last taken of, not pinned: it may be dead. Null if it is on disk. */
  private @Nullable Block last;

  /** The bytes of the block that bytes were last taken of, in memory or on disk; none if equal. */
  private long lastStart;

  private long lastEnd;

  /** Whether the planner knows of the read. */
  private boolean isTold;

  /** Whether the disk has not brought the next byte, as it was to: S3 is asked. */
  private boolean isLostOnDisk;

  /** Whether S3 was asked for the next byte. */
  private boolean isAsked;

  /** Whether the reader's waiting for the next byte was told to the planner. */
  private boolean hasStalled;

  /** Of reads that wait: the block up to which theirs are asked for. A lost one is found absent. */
  private long startedUntil;

  /** How the last block that did not come has failed. */
  private @Nullable Exception lastFailure;

  /** The failure for which the object has to be looked at before the next block. */
  private @Nullable IOException unrecovered;

  private Ask(BlockReader reader, ReadStep begin, Pieces pieces, @Nullable Patience patience) {
    this.reader = reader;
    this.fetcher = reader.fetcher;
    this.handle = reader.handle;
    this.begin = begin;
    this.pieces = pieces;
    this.patience = patience;
  }

  /** For {@link #read}: of moving reads, one after the other, or of a positioned one. */
  static Ask ofReads(BlockReader reader, ReadStep begin) {
    return new Ask(reader, begin, Pieces.OF_READ, null);
  }

  /**
   * One range of a vectored read, which the planner knows of.
   *
   * @param target has room for the range, and no more
   * @param fetchEnd where the bytes end that are asked for together with the range
   * @param nextRange where the next range behind this one begins that the same read wants bytes of
   * @param pieces how what is missing is cut
   */
  static Ask ofRange(
      BlockReader reader,
      ByteRange range,
      ByteBuffer target,
      long fetchEnd,
      long nextRange,
      Pieces pieces,
      Patience patience) {
    Ask ask = new Ask(reader, ReadStep.VECTORED, pieces, patience);
    ask.begin(range.start(), target);
    ask.fetchEnd = fetchEnd;
    ask.nextRange = nextRange;
    return ask;
  }

  private void begin(long at, ByteBuffer into) {
    from = at;
    next = at;
    target = into;
    fetchEnd = end();
    startedUntil = 0;
    isTold = begin == ReadStep.VECTORED;
    beginBlock();
  }

  /** Where the read ends: earlier than asked for if the object turned out to end, at any time. */
  private long end() {
    return Math.min(handle.size(), next + target.remaining());
  }

  /** Nothing has been tried for the next byte. */
  private void beginBlock() {
    isLostOnDisk = false;
    hasStalled = false;
    lastFailure = null;
  }

  /** Reads into {@code into} from {@code at} on; how many bytes, -1 at or behind the end. */
  int read(long at, ByteBuffer into) throws IOException {
    begin(at, into);
    patience = null;
    try {
      boolean unused = advance(Caller.WAITS);
    } finally {
      // Whatever happens, the target is the application's again.
      stop();
      target = NOTHING;
    }
    return next == from ? -1 : (int) (next - from);
  }

  /**
   * Copies what is there, and asks for what is not.
   *
   * @return whether the target has all bytes, or all that a moving read gets, or that the object
   *     has; always so on a thread that waits
   * @throws EOFException if the object has ended before a range
   */
  boolean advance(Caller caller) throws IOException {
    IOException unknown = unrecovered;
    if (unknown != null) {
      unrecovered = null;
      recover(unknown);
    }
    while (next < end()) {
      try {
        boolean isTaken = take(caller);
        long end = end();
        if (isTaken || next >= end) {
          continue;
        }
        if (isLostOnDisk || !beginOnDisk(end)) {
          if (begin == ReadStep.MOVE && next > from) {
            break;
          }
          request(caller, end);
        }
        if (caller != Caller.WAITS && (arrival == null || !arrival.isAnothers())) {
          return false;
        }
      } catch (IOException e) {
        if (caller == Caller.NEVER_WAITS && ReadFailures.isRecoverable(e)) {
          unrecovered = e;
          return false;
        }
        recover(e);
      }
    }
    if (next > from) {
      reader.showPlanner(from, next, target);
    }
    if (begin == ReadStep.VECTORED && target.hasRemaining()) {
      throw reader.failures().endOfObject(from, next - from + target.remaining());
    }
    return true;
  }

  private void recover(IOException failure) throws IOException {
    if (failure instanceof InterruptedIOException && handle.cancelled() != null) {
      // Whoever reads on starts anew; nobody else wants what was to come.
      reader.pump.release();
    }
    lastFailure = failure;
    reader.failures().recover(failure, next, target.remaining(), patience());
  }

  /** Waits for what is awaited, as far as it may, and takes that; false if nothing is at hand. */
  private boolean take(Caller caller) throws IOException {
    if (fromDisk != null) {
      takeFromDisk(fromDisk, caller);
    } else if (arrival != null) {
      takeArrived(arrival, caller);
    } else {
      return takeFromMemory();
    }
    return true;
  }

  private boolean takeFromMemory() {
    Block block = last;
    boolean isSame = block != null && isWithinLast(next) && block.tryPin();
    if (!isSame) {
      block = reader.peek(next);
    }
    if (block == null) {
      return false;
    }
    try {
      if (!isSame) {
        handle.count(Counter.MEMORY_HITS, 1);
        reader.pump.start(tell(next, false), null);
        touch(block);
      }
      copy(block);
    } finally {
      block.unpin();
    }
    return true;
  }

  /** The reader comes to bytes from {@code at} on, absent or not: what to start behind them. */
  private Change tell(long at, boolean absent) {
    // The object may have turned out to end before the read does, or before it begins.
    long end = Math.max(at, end());
    handle.progress.onRead(at, end);
    if (isTold) {
      return Change.NONE;
    }
    isTold = true;
    return reader.pump.onRead(at, end, begin, absent);
  }

  private void touch(Block block) {
    if (nextRange >= block.end()) {
      reader.touch(block);
    }
  }

  private void copy(Block block) {
    took(BlockReader.copy(block, next, target), block, block.start(), block.end());
  }

  private void took(int count, @Nullable Block of, long start, long end) {
    countWait();
    next += count;
    last = of;
    lastStart = start;
    lastEnd = end;
    if (patience != null) {
      patience.progressed();
    }
    beginBlock();
  }

  /** Not before it is needed: as a rule a read finds its block without asking for the time. */
  private Patience patience() {
    if (patience == null) {
      patience = new Patience(reader.fetcher.tenant.config.readTimeout());
    }
    return patience;
  }

  /** Begins to read what follows and is on disk; false if the next byte is not. */
  private boolean beginOnDisk(long end) {
    ByteBuffer room = target.slice(target.position(), (int) (end - next));
    fromDisk = fetcher.fromDisk(handle, next, room, begin != ReadStep.VECTORED);
    if (fromDisk == null) {
      return false;
    }
    long known = isWithinLast(next) ? lastEnd : next;
    if (known < end) {
      // While the disk works.
      reader.pump.start(tell(known, false), null);
    }
    return true;
  }

  private void takeFromDisk(DiskBytes bytes, Caller caller) {
    if (caller == Caller.WAITS) {
      bytes.await();
    }
    fromDisk = null;
    int count = bytes.end();
    if (count == 0) {
      isLostOnDisk = true;
      return;
    }
    target.position(target.position() + count);
    long block = handle.layout.blockAt(next + count - 1);
    took(count, null, handle.layout.startOf(block), handle.layout.endOf(block));
  }

  /**
   * Asks for the block of the next byte, which is neither in memory nor on disk. Nothing is {@link
   * #arrival expected} afterwards if the block is to be looked for again, by a thread that may
   * wait.
   */
  private void request(Caller caller, long end) throws IOException {
    boolean isFirst = !isAsked;
    if (isFirst) {
      isAsked = true;
      patience().waitBegins();
    } else {
      fetcher.checkDeadline(handle, lastFailure, patience());
    }
    BlockRange wanted = handle.layout.covering(next, Math.min(handle.size(), fetchEnd));
    Block found = fetcher.find(handle, wanted.first());
    arrival = found == null ? null : fetcher.join(found);
    Change ahead = Change.NONE;
    if (isFirst) {
      ahead = tell(next, found == null);
    } else if (found == null && caller == Caller.WAITS) {
      ahead = reader.pump.onMiss(begin);
    }
    if (found == null) {
      if (caller == Caller.WAITS && next == from) {
        reader.touchRest(wanted);
      }
      // The read says that it will hardly need the rest of a small object.
      boolean isGlance = begin == ReadStep.POSITIONED && reader.isGlance(end - next);
      boolean mayWait = caller != Caller.NEVER_WAITS;
      startedUntil = mayWait ? 0 : reader.startAsked(wanted, wanted.first(), pieces);
      Block asked =
          mayWait
              ? reader.demand(wanted, ahead, pieces, !isGlance, patience())
              : fetcher.find(handle, wanted.first());
      arrival = asked == null ? null : fetcher.join(asked);
    } else if (arrival == null && caller != Caller.NEVER_WAITS) {
      // Its fetch is being given up, and is out of the way in a moment.
      LockSupport.parkNanos(this, STALL_NANOS);
    }
    if (caller == Caller.NEVER_WAITS && arrival != null && arrival.isAnothers()) {
      endAwaiting();
    }
    if (caller == Caller.WAITS && (isFirst || found == null)) {
      // Not the block in hand: it may have failed by now, which is for its reader to hear.
      startedUntil = reader.startAsked(wanted, Math.max(wanted.first() + 1, startedUntil), pieces);
      reader.pump.start(ahead, arrival == null ? null : arrival.block());
    }
  }

  private void takeArrived(Arrival expected, Caller caller) throws IOException {
    Block block = expected.block();
    try {
      // Grow the window while waiting and not afterwards: the wait is what it is to shorten.
      if (caller == Caller.WAITS && !hasStalled && !fetcher.isReadyWithin(block, STALL_NANOS)) {
        hasStalled = true;
        reader.pump.onStall(next, begin, block);
      }
      // The object may have turned out to end inside the block.
      if (!fetcher.await(handle, expected, patience()) || next >= block.end()) {
        lastFailure = block.failure();
        return;
      }
      touch(block);
      copy(block);
    } finally {
      endAwaiting();
    }
  }

  /** If S3 was asked for the next byte, the wait for it is over: it is there, or the read ends. */
  private void countWait() {
    if (isAsked) {
      isAsked = false;
      handle.count(Counter.WAITS, 1);
      handle.count(Counter.WAIT_NANOS, patience().waitEnds());
    }
  }

  /** Whether {@code at} is in the block that bytes were last taken of. */
  boolean isWithinLast(long at) {
    return at >= lastStart && at < lastEnd;
  }

  /** The error of a range whose deadline has passed. */
  IOException late() {
    Arrival missing = arrival;
    IOException late =
        missing == null ? new SocketTimeoutException("its deadline has passed") : missing.late();
    // What the store said counts more than that it has not said it again yet.
    IOException told = lastFailure instanceof RequestFailure failed ? failed : late;
    return reader.failures().describe(told, next, target.remaining());
  }

  /** Nothing is awaited any more, nor will be. */
  void stop() {
    endAwaiting();
    countWait();
  }

  private void endAwaiting() {
    Arrival missing = arrival;
    arrival = null;
    if (missing != null) {
      missing.close();
    }
    DiskBytes bytes = fromDisk;
    fromDisk = null;
    if (bytes != null) {
      int unused = bytes.end();
    }
  }

  /** The next read finds the planner unaware of where it is. */
  void forget() {
    last = null;
    lastEnd = 0;
  }
}
