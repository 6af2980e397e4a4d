package io.s3e.stream;

import io.s3e.block.ByteRange;
import io.s3e.fetch.DiskBytes;
import io.s3e.memory.Block;
import io.s3e.stream.RangeFilling.Progress;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One range of a {@link VectoredRead}: its future and, while it is read, its buffer.
 *
 * <p><b>States.</b> <i>Idle</i>: waits for its turn, for a block, for bytes from disk, or for a
 * thread. <i>Working</i>, on one thread of the engine, which copies what is there and becomes idle
 * again. <i>Over</i>. A settling block, or a free thread, makes an idle range work. {@link #end},
 * the deadline, and the application that completes or cancels the future make an idle range over at
 * once; a working one notices when it stops working, which is soon.
 *
 * <p><b>Ownership.</b> The filling, and with it the buffer, belongs to the thread that works, or to
 * the one that has made the range over. The buffer goes to the application by the future, if that
 * has not been completed otherwise, and else back by {@code release}, exactly once. A future that
 * {@link #end} fails fails after that.
 */
final class PendingRange {
  private final ByteRange range;
  private final long fetchEnd;
  private final long nextRange;
  private final VectoredRead read;
  private final CompletableFuture<ByteBuffer> result = new CompletableFuture<>();
  private final CompletableFuture<End> over = new CompletableFuture<>();

  /** How a range has come to be over. */
  enum End {
    /** Its bytes are the application's. */
    DELIVERED,
    /** It failed or was given up. */
    NOT_DELIVERED
  }

  private enum State {
    IDLE,
    WORKING,
    OVER
  }

  // Guarded by this.
  private State state = State.IDLE;
  private @Nullable String endedBecause;

  private @Nullable RangeFilling filling;

  /**
   * @param fetchEnd where the bytes end that are asked for together with the range
   * @param nextRange where the read's next range behind this one starts
   */
  PendingRange(ByteRange range, long fetchEnd, long nextRange, VectoredRead read) {
    this.range = range;
    this.fetchEnd = fetchEnd;
    this.nextRange = nextRange;
    this.read = read;
    var unused = result.whenComplete((bytes, failure) -> completed());
  }

  ByteRange range() {
    return range;
  }

  CompletableFuture<ByteBuffer> result() {
    return result;
  }

  /**
   * Completes when the future has, and nothing is waited for any more: what the read has fetched
   * can be given up then without being asked for again.
   */
  CompletableFuture<End> over() {
    return over;
  }

  /**
   * Gets on with the range as far as it goes. Every failure, the application's own allocator
   * included, belongs to the future: a range that never completes would hang its reader.
   */
  @SuppressWarnings("IllegalCatch")
  void work(RangeFilling.Caller caller) {
    if (!begin()) {
      return;
    }
    Progress progress;
    try {
      RangeFilling now = filling;
      if (now == null) {
        now = read.filling(range, fetchEnd, nextRange);
        filling = now;
      }
      progress = now.advance(caller);
      if (progress != Progress.DONE && now.isLate()) {
        throw now.late();
      }
    } catch (Throwable e) {
      finish(e);
      return;
    }
    if (progress == Progress.DONE) {
      finish(null);
    } else {
      goOn(progress);
    }
  }

  private void goOn(Progress progress) {
    RangeFilling now = filling;
    Expected expected = now == null ? null : now.expected();
    DiskBytes fromDisk = now == null ? null : now.fromDisk();
    if (!pause()) {
      finish(givenUp("given up.", null));
    } else if (progress == Progress.EXPECTING && expected != null) {
      // By the thread that brings the block, which has better things to do than to copy.
      Block block = expected.block();
      block.whenSettled(() -> read.work(this, RangeFilling.Caller.MUST_NOT_WAIT));
      read.waitsFor(block);
    } else if (progress == Progress.READING && fromDisk != null) {
      fromDisk.whenOver(() -> read.work(this, RangeFilling.Caller.MUST_NOT_WAIT));
    } else {
      read.work(this, RangeFilling.Caller.MAY_WAIT);
    }
  }

  /** Gives the range up, if it is not over. */
  void end(String why) {
    if (overFromIdle(why)) {
      giveUp(givenUp(why, null));
    }
  }

  /** Ends the range if it is not over, because its deadline has passed. */
  void late() {
    if (overFromIdle(null)) {
      RangeFilling now = filling;
      giveUp(now == null ? read.late(range) : now.late());
    }
  }

  /** The future is complete, by this range or by the application. */
  private void completed() {
    if (overFromIdle(null)) {
      giveUp(givenUp("given up.", null));
    }
  }

  private synchronized boolean begin() {
    if (state != State.IDLE) {
      return false;
    }
    state = State.WORKING;
    return true;
  }

  /** Working → idle; false if the range has been given up meanwhile. */
  private synchronized boolean pause() {
    if (endedBecause != null || result.isDone()) {
      return false;
    }
    state = State.IDLE;
    return true;
  }

  /** Idle → over; false if it was not idle. */
  private synchronized boolean overFromIdle(@Nullable String why) {
    if (why != null) {
      endedBecause = why;
    }
    if (state != State.IDLE) {
      return false;
    }
    state = State.OVER;
    return true;
  }

  private synchronized @Nullable String overFromWorking() {
    state = State.OVER;
    return endedBecause;
  }

  private void finish(@Nullable Throwable failure) {
    String why = overFromWorking();
    if (why == null && !read.isStreamOpen()) {
      // The thread that closes the stream is on its way to say so.
      why = ReadFailures.CLOSED;
    }
    RangeFilling held = filling;
    if (failure == null && held != null && result.complete(held.buffer())) {
      over.complete(End.DELIVERED);
      return;
    }
    giveUp(failure != null && why != null ? givenUp(why, failure) : failure);
  }

  /** Over, and nothing delivered. */
  private void giveUp(@Nullable Throwable failure) {
    RangeFilling held = filling;
    if (held != null) {
      held.stop();
      read.giveBack(held.buffer());
    }
    if (failure != null) {
      result.completeExceptionally(failure);
    }
    over.complete(End.NOT_DELIVERED);
  }

  private IOException givenUp(String why, @Nullable Throwable cause) {
    InterruptedIOException failure =
        new InterruptedIOException(why + " Range " + range + " of " + read);
    if (cause != null) {
      failure.initCause(cause);
    }
    return failure;
  }
}
