package io.s3e.stream;

import io.s3e.block.ByteRange;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One range of a {@link VectoredRead}: its future and, while it is read, its buffer.
 *
 * <p><b>States.</b> <i>Waiting</i> for its turn; <i>reading</i>, on one thread of the engine, which
 * is interrupted to end it; <i>over</i>. It is given up from outside by {@link #end}, or because
 * the application has completed or cancelled the future.
 *
 * <p><b>Ownership.</b> The buffer is the reading thread's. It goes to the application by the
 * future, if that has not been completed otherwise, and else back by {@code release}, exactly once.
 * A future that {@link #end} fails fails after that.
 *
 * <p><b>Interrupts</b> are sent under the lock to a thread that reads, which clears them under the
 * lock when it has finished. So none reaches the range that the thread reads next, nor what the
 * application does when the future completes.
 */
final class PendingRange {
  private final ByteRange range;
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

  // Guarded by this.
  private @Nullable Thread reading;
  private @Nullable String endedBecause;

  /** The reading thread's. */
  private @Nullable ByteBuffer buffer;

  PendingRange(ByteRange range, VectoredRead read) {
    this.range = range;
    this.read = read;
    var unused = result.whenComplete((bytes, failure) -> completed());
  }

  CompletableFuture<ByteBuffer> result() {
    return result;
  }

  /**
   * Completes when the future has, and no thread reads for it any more: what the read has fetched
   * can be given up then without being asked for again.
   */
  CompletableFuture<End> over() {
    return over;
  }

  /** The reading thread has got its buffer. */
  void holds(ByteBuffer allocated) {
    buffer = allocated;
  }

  /**
   * Reads the range and completes the future. Every failure, the application's own allocator
   * included, belongs to the future: a range that never completes would hang its reader.
   */
  @SuppressWarnings("IllegalCatch")
  void read() {
    if (!begin()) {
      return;
    }
    Throwable failure = null;
    try {
      read.fill(range, this);
    } catch (Throwable e) {
      failure = e;
    }
    String why = finish();
    if (why == null && !read.isStreamOpen()) {
      // The thread that closes the stream is on its way to say so.
      why = S3EInputStream.CLOSED;
    }
    ByteBuffer held = buffer;
    if (failure == null && held != null && result.complete(held)) {
      return;
    }
    if (held != null) {
      read.giveBack(held);
    }
    if (failure != null) {
      result.completeExceptionally(why == null ? failure : givenUp(why, failure));
    }
    over.complete(End.NOT_DELIVERED);
  }

  /** Gives the range up, if it is not over. */
  void end(String why) {
    synchronized (this) {
      endedBecause = why;
      if (reading != null) {
        reading.interrupt();
        return;
      }
    }
    if (!result.isDone()) {
      result.completeExceptionally(givenUp(why, null));
    }
  }

  private InterruptedIOException givenUp(String why, @Nullable Throwable cause) {
    InterruptedIOException failure =
        new InterruptedIOException(why + " Range " + range + " of " + read);
    if (cause != null) {
      failure.initCause(cause);
    }
    return failure;
  }

  private synchronized boolean begin() {
    if (endedBecause != null || result.isDone()) {
      return false;
    }
    reading = Thread.currentThread();
    return true;
  }

  private synchronized @Nullable String finish() {
    reading = null;
    boolean unused = Thread.interrupted();
    return endedBecause;
  }

  /** The future is complete. If a thread still reads for it, that one may stop, and says when. */
  private void completed() {
    synchronized (this) {
      if (reading != null) {
        reading.interrupt();
        return;
      }
    }
    over.complete(result.isCompletedExceptionally() ? End.NOT_DELIVERED : End.DELIVERED);
  }
}
