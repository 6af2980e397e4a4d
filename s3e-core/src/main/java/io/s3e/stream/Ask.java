package io.s3e.stream;

import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.client.RequestFailure;
import io.s3e.fetch.Arrival;
import io.s3e.fetch.DiskBytes;
import io.s3e.fetch.Fetcher;
import io.s3e.fetch.ObjectHandle;
import io.s3e.fetch.Patience;
import io.s3e.fetch.ReadCancelledException;
import io.s3e.memory.Block;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.prefetch.Ahead.Change;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketTimeoutException;
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
 * read is {@linkplain #advance advanced} by threads of the engine, none of which waits for a block:
 * {@link Progress} says what the ask waits for.
 *
 * <p><b>States.</b> Between two calls of {@link #advance} an ask awaits nothing, a block ({@link
 * #arrival}), or bytes from disk ({@link #fromDisk}); never both. {@link #stop} ends what is
 * awaited, and an ask that is {@linkplain Progress#DONE done} awaits nothing.
 *
 * <p>An ask of moving reads is used again for each of them, and remembers the block that it last
 * took bytes of: the {@link Pump} knows of reads in it. Belongs to one thread at a time.
 */
final class Ask {
  /** How far {@link #advance} has come. */
  enum Progress {
    /** All bytes are in the target, or all that a moving read gets, or that the object has. */
    DONE,
    /** {@link #arrival} has to settle first. */
    EXPECTING,
    /** {@link #fromDisk} has to be over first. */
    READING,
    /** Only a thread that may wait gets on. */
    BLOCKED
  }

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

  private static final ByteRange NOWHERE = new ByteRange(0, 0);
  private static final Target NOTHING = new Target.OfArray(new byte[0], 0, 0);

  private final BlockReader reader;
  private final ReadFailures failures;
  private final Fetcher fetcher;
  private final ObjectHandle handle;
  private final ReadStep begin;
  private final Pieces pieces;

  /** Null until a read without a patience of its own comes to a block that is not in hand. */
  private @Nullable Patience patience;

  private Target target = NOTHING;
  private long from;
  private long next;
  private long end;

  /** Where the bytes end that are asked for together; at the end of the read or behind it. */
  private long fetchEnd;

  /**
   * Where the next range of the same vectored read begins: until that range has its bytes, a block
   * that it begins in must not be evicted.
   */
  private long nextRange = Long.MAX_VALUE;

  private @Nullable Arrival arrival;
  private @Nullable DiskBytes fromDisk;

  /** The block that bytes were last taken of, not pinned: it may be dead. */
  private @Nullable Block current;

  /** The block that bytes were last taken of from disk, unless memory had some since. */
  private ByteRange currentOnDisk = NOWHERE;

  /** Whether the planner knows of the read. */
  private boolean isTold;

  /** Whether the disk has not brought the next byte, as it was to: S3 is asked. */
  private boolean isLostOnDisk;

  /** Whether the next byte has been asked of S3. */
  private boolean isAsked;

  private long askedNanos;

  /** Whether the reader's waiting for the next byte was told to the planner. */
  private boolean hasStalled;

  /** How the last block that did not come has failed. */
  private @Nullable Exception lastFailure;

  /** The failure for which the object has to be looked at before the next block. */
  private @Nullable IOException unrecovered;

  private Ask(
      BlockReader reader,
      ReadFailures failures,
      ReadStep begin,
      Pieces pieces,
      @Nullable Patience patience) {
    this.reader = reader;
    this.failures = failures;
    this.fetcher = reader.fetcher();
    this.handle = reader.handle();
    this.begin = begin;
    this.pieces = pieces;
    this.patience = patience;
  }

  /** For {@link #read}: of moving reads, one after the other, or of a positioned one. */
  static Ask ofReads(BlockReader reader, ReadFailures failures, ReadStep begin) {
    return new Ask(reader, failures, begin, Pieces.OF_READ, null);
  }

  /**
   * One range of a vectored read, which the planner knows of.
   *
   * @param target has room for the range
   * @param fetchEnd where the bytes end that are asked for together with the range
   * @param nextRange where the next range behind this one begins that the same read wants bytes of
   * @param pieces how what is missing is cut
   */
  static Ask ofRange(
      BlockReader reader,
      ReadFailures failures,
      ByteRange range,
      Target target,
      long fetchEnd,
      long nextRange,
      Pieces pieces,
      Patience patience) {
    Ask ask = new Ask(reader, failures, ReadStep.CONTINUATION, pieces, patience);
    ask.begin(range.start(), target);
    ask.fetchEnd = fetchEnd;
    ask.nextRange = nextRange;
    return ask;
  }

  private void begin(long at, Target into) {
    from = at;
    next = at;
    target = into;
    end = Math.min(handle.size(), at + into.remaining());
    fetchEnd = end;
    isTold = begin == ReadStep.CONTINUATION;
    beginBlock();
  }

  /** Nothing has been tried for the next byte. */
  private void beginBlock() {
    isLostOnDisk = false;
    isAsked = false;
    hasStalled = false;
    lastFailure = null;
  }

  /**
   * Reads into {@code into} from {@code at} on.
   *
   * @return how many bytes; -1 at or behind the end of the object
   */
  int read(long at, Target into) throws IOException {
    begin(at, into);
    patience = null;
    try {
      Progress progress = advance(Caller.WAITS);
      if (progress != Progress.DONE) {
        throw new IllegalStateException("a thread that waits does not come to " + progress);
      }
    } finally {
      // Whatever happens, the target is the application's again.
      stop();
      target = NOTHING;
    }
    return next == from ? -1 : (int) (next - from);
  }

  /** Copies what is there, and asks for what is not. */
  Progress advance(Caller caller) throws IOException {
    while (target.remaining() > 0 && next < handle.size()) {
      try {
        Progress progress = advanceOnce(caller);
        if (progress == Progress.DONE) {
          break;
        }
        if (progress != null) {
          return progress;
        }
      } catch (IOException e) {
        if (caller == Caller.NEVER_WAITS && ReadFailures.isRecoverable(e)) {
          unrecovered = e;
          return Progress.BLOCKED;
        }
        if (e instanceof ReadCancelledException) {
          // Whoever reads on starts anew; nobody else wants what was to come.
          reader.pump().release();
        }
        lastFailure = e;
        failures.recover(e, next, target.remaining());
      }
    }
    if (next > from) {
      reader.showPlanner(from, next, target);
    }
    return Progress.DONE;
  }

  /** Null if it may be called again at once. */
  private @Nullable Progress advanceOnce(Caller caller) throws IOException {
    IOException unknown = unrecovered;
    if (unknown != null) {
      unrecovered = null;
      throw unknown;
    }
    if (fromDisk != null) {
      takeFromDisk(fromDisk, caller);
      return null;
    }
    if (arrival != null) {
      takeArrived(arrival, caller);
      return null;
    }
    if (takeFromMemory()) {
      return null;
    }
    if (!isLostOnDisk && beginOnDisk()) {
      return caller == Caller.WAITS ? null : Progress.READING;
    }
    if (begin == ReadStep.MOVE && next > from) {
      return Progress.DONE;
    }
    request(caller);
    if (arrival == null) {
      return caller == Caller.WAITS ? null : Progress.BLOCKED;
    }
    return caller == Caller.WAITS || arrival.isAnothers() ? null : Progress.EXPECTING;
  }

  private boolean takeFromMemory() {
    Block last = pinCurrent();
    Block block = last == null ? reader.peek(next) : last;
    if (block == null) {
      return false;
    }
    try {
      if (last == null) {
        fetcher.metrics().count(Counter.MEMORY_HITS);
        handle.listener().onMemoryHit(Math.min(end, block.end()) - next);
        tell(next);
        touch(block);
      }
      copy(block);
    } finally {
      block.unpin();
    }
    return true;
  }

  /** The block last read from, pinned, if it holds the next byte and is alive; null otherwise. */
  private @Nullable Block pinCurrent() {
    Block block = current;
    if (block == null || next < block.start() || next >= block.end()) {
      return null;
    }
    return block.tryPin() ? block : null;
  }

  /** The reader comes to bytes that nothing has to be waited for, from {@code at} on. */
  private void tell(long at) {
    handle.progress().onRead(at, end);
    if (!isTold) {
      isTold = true;
      reader.pump().start(reader.pump().onRead(at, end, begin, false), null);
    }
  }

  private void touch(Block block) {
    if (nextRange >= block.end()) {
      reader.touch(block);
    }
  }

  private void copy(Block block) {
    next += target.copy(block, next);
    current = block;
    currentOnDisk = NOWHERE;
    progressed();
  }

  private void progressed() {
    if (patience != null) {
      patience.progressed();
    }
    beginBlock();
  }

  /** Not before it is needed: as a rule a read finds its block without asking for the time. */
  private Patience patience() {
    Patience mine = patience;
    if (mine == null) {
      mine = new Patience(failures.readTimeout());
      patience = mine;
    }
    return mine;
  }

  /** Begins to read what follows and is on disk; false if the next byte is not. */
  private boolean beginOnDisk() {
    // Earlier than was asked for if the object turned out to end, which it may do at any time.
    long until = Math.min(handle.size(), end);
    boolean isOfRange = begin == ReadStep.CONTINUATION;
    fromDisk =
        until <= next
            ? null
            : fetcher.fromDisk(handle, next, target.room(until - next), !isOfRange);
    if (fromDisk == null) {
      return false;
    }
    long known = isInCurrentOnDisk(next) ? currentOnDisk.end() : next;
    if (known < end) {
      // While the disk works.
      tell(known);
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
    target.filled(count);
    next += count;
    progressed();
    if (!isInCurrentOnDisk(next - 1)) {
      currentOnDisk = reader.blockAround(next - 1);
    }
  }

  /**
   * Asks for the block of the next byte, which is neither in memory nor on disk. Nothing is {@link
   * #arrival expected} afterwards if the block is to be looked for again, by a thread that may
   * wait.
   */
  private void request(Caller caller) throws IOException {
    long size = reader.requireInside(next);
    long until = Math.min(size, end);
    boolean isFirst = !isAsked;
    if (isFirst) {
      isAsked = true;
      askedNanos = System.nanoTime();
      handle.progress().onRead(next, until);
    } else {
      fetcher.checkDeadline(handle, lastFailure, patience());
    }
    BlockRange wanted = handle.layout().covering(next, Math.min(size, fetchEnd));
    Block found = fetcher.find(handle, wanted.first());
    arrival = found == null ? null : fetcher.join(found);
    Change ahead = Change.NONE;
    if (isFirst && !isTold) {
      isTold = true;
      ahead = reader.pump().onRead(next, until, begin, found == null);
    } else if (!isFirst && found == null && caller == Caller.WAITS) {
      ahead = reader.pump().onMiss(begin);
    }
    if (found == null) {
      Block asked =
          caller == Caller.NEVER_WAITS
              ? reader.begin(wanted, pieces)
              : reader.demand(wanted, ahead, pieces, !isGlance(), patience());
      arrival = asked == null ? null : fetcher.join(asked);
    } else if (arrival == null && caller != Caller.NEVER_WAITS) {
      // Its fetch is being given up, and is out of the way in a moment.
      LockSupport.parkNanos(this, STALL_NANOS);
    }
    Arrival expected = arrival;
    if (expected != null && expected.isAnothers() && caller == Caller.NEVER_WAITS) {
      stop();
    }
    if (caller == Caller.WAITS && (isFirst || found == null)) {
      // Not the block in hand: it may have failed by now, which is for its reader to hear.
      reader.beginRest(wanted, pieces);
      reader.pump().start(ahead, expected == null ? null : expected.block());
    }
  }

  /** Whether the read says that it will hardly need the rest of a small object. */
  private boolean isGlance() {
    return begin == ReadStep.POSITIONED && reader.isGlance(end - next);
  }

  private void takeArrived(Arrival expected, Caller caller) throws IOException {
    Block block = expected.block();
    try {
      // Grow the window while waiting and not afterwards: the wait is what it is to shorten.
      if (caller == Caller.WAITS && !hasStalled && !fetcher.isReadyWithin(block, STALL_NANOS)) {
        hasStalled = true;
        reader.pump().onStall(next, begin, block);
      }
      // The object may have turned out to end inside the block.
      if (!fetcher.await(handle, expected, patience()) || next >= block.end()) {
        lastFailure = block.failure();
        return;
      }
      long waited = System.nanoTime() - askedNanos;
      fetcher.metrics().count(Counter.WAITS);
      fetcher.metrics().add(Counter.WAIT_NANOS, waited);
      handle.listener().onStall(next, waited);
      touch(block);
      copy(block);
    } finally {
      stop();
    }
  }

  /** Whether {@code at} is in the block that bytes were last taken of. */
  boolean isWithinLast(long at) {
    Block block = current;
    boolean isInMemory = block != null && at >= block.start() && at < block.end();
    return isInMemory || isInCurrentOnDisk(at);
  }

  private boolean isInCurrentOnDisk(long at) {
    return at >= currentOnDisk.start() && at < currentOnDisk.end();
  }

  /** The block to wait for. */
  @Nullable Arrival arrival() {
    return arrival;
  }

  /** The bytes from disk to wait for. */
  @Nullable DiskBytes fromDisk() {
    return fromDisk;
  }

  /**
   * @throws EOFException if the object has ended before the read that is done
   */
  void requireFilled() throws EOFException {
    if (target.remaining() > 0) {
      throw failures.endOfObject(from, next - from + target.remaining());
    }
  }

  boolean isLate() {
    return patience().isOver();
  }

  /** The error of a range whose deadline has passed. */
  IOException late() {
    Arrival missing = arrival;
    IOException late =
        missing == null ? new SocketTimeoutException("its deadline has passed") : missing.late();
    // What the store said counts more than that it has not said it again yet.
    IOException told = lastFailure instanceof RequestFailure failed ? failed : late;
    return failures.describe(told, next, target.remaining());
  }

  /** Nothing is awaited any more. */
  void stop() {
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
    current = null;
    currentOnDisk = NOWHERE;
  }
}
