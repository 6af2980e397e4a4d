// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import io.s3e.jvm.Background;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.DiskMetrics.Counter;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Leaves a directory alone that does not work, and tries again later. Reading and writing have one
 * each: a full disk can still be read.
 *
 * <ul>
 *   <li>CLOSED: everything may use the directory. Opens after {@value #FAILURES_IN_A_ROW} failures
 *       in a row, or at once for a cause that the next operation will meet too. Failures among
 *       successes cost a miss each; a directory that is slow for them is left by its measured time.
 *   <li>OPEN: nothing may, until the pause is over.
 *   <li>PROBING: one operation may, the one that {@link #tryProbe} let pass. A success closes, a
 *       failure opens again with twice the pause, up to {@value #MOST_PAUSES} times the first one;
 *       so does a probe that says nothing for as long as the pause was, because it hangs.
 * </ul>
 *
 * <p>What was begun before the directory was left alone and ends after it changes nothing while
 * OPEN. The pause is short again once a probe has succeeded. Thread-safe.
 */
final class Breaker {
  private static final Logger LOG = LoggerFactory.getLogger(Breaker.class);

  private static final int FAILURES_IN_A_ROW = 3;
  private static final int MOST_PAUSES = 32;

  private enum State {
    CLOSED,
    OPEN,
    PROBING
  }

  enum Cause {
    ERROR(false),
    SLOW(false),
    /** It has not come back for so long that its thread is given up. */
    HUNG(true),
    /** No space, no inodes or no quota left. */
    NO_SPACE(true),
    READ_ONLY(true);

    private final boolean lasts;

    Cause(boolean lasts) {
      this.lasts = lasts;
    }

    /** The cause that an operation's exception names in English; ERROR in other languages. */
    static Cause of(Throwable failure) {
      String words = String.valueOf(failure.getMessage()).toLowerCase(Locale.ROOT);
      if (words.contains("no space left") || words.contains("quota exceeded")) {
        return NO_SPACE;
      }
      return words.contains("read-only file system") ? READ_ONLY : ERROR;
    }
  }

  private final DiskMetrics metrics;
  private final String what;
  private final long pauseNanos;
  private final LongSupplier nanoClock;

  /** Changed under the lock; read without it by those who only ask. */
  private volatile State state = State.CLOSED;

  private int failuresInARow;

  /** How often the pause is as long as the first one: a power of two. */
  private volatile int pauses = 1;

  /** When the state that ends by time ends. */
  private volatile long endsNanos;

  /** {@code pause} is the first one; {@code what} is left alone, for the log. */
  Breaker(Duration pause, LongSupplier nanoClock, DiskMetrics metrics, String what) {
    this.metrics = metrics;
    this.what = what;
    this.pauseNanos = pause.toNanos();
    this.nanoClock = nanoClock;
  }

  /** Whether the directory may be used. Never true for a probe. */
  boolean allows() {
    return state == State.CLOSED;
  }

  /** Whether {@link #tryProbe} would let one caller pass now. Takes no lock. */
  boolean isDue() {
    return state != State.CLOSED && nanoClock.getAsLong() - endsNanos >= 0;
  }

  /**
   * True for one caller after each pause, who then tries an operation and tells how it ended; false
   * for all others and while the directory may be used anyway.
   */
  synchronized boolean tryProbe() {
    if (!isDue()) {
      return false;
    }
    if (state == State.PROBING) {
      // The last probe hangs.
      open();
      return false;
    }
    state = State.PROBING;
    endsNanos = nanoClock.getAsLong() + pauseNanos * pauses;
    return true;
  }

  /** What was let pass has ended without asking the disk: the next caller is the probe. */
  synchronized void unused() {
    if (state == State.PROBING) {
      state = State.OPEN;
      endsNanos = nanoClock.getAsLong();
    }
  }

  void success() {
    boolean closes;
    synchronized (this) {
      closes = state == State.PROBING;
      if (closes) {
        state = State.CLOSED;
        metrics.add(Counter.BREAKERS_OPEN, -1);
      }
      if (state == State.CLOSED) {
        failuresInARow = 0;
      }
    }
    if (closes) {
      Background.logApart(() -> LOG.info("{} works again", what));
    }
  }

  void failure(Cause cause) {
    boolean opens;
    synchronized (this) {
      opens = state == State.CLOSED && (++failuresInARow >= FAILURES_IN_A_ROW || cause.lasts);
      if (opens) {
        metrics.count(Counter.BREAKER_OPENED);
        metrics.count(Counter.BREAKERS_OPEN);
      }
      if (opens || state == State.PROBING) {
        open();
      }
    }
    if (opens) {
      // Not here, which may be an event loop or the timer: the log may be on the same disk.
      long millis = TimeUnit.NANOSECONDS.toMillis(pauseNanos * pauses);
      String said = "{} is left alone for {} ms after failures, the last one: {}";
      Background.logApart(() -> LOG.warn(said, what, millis, cause));
    }
  }

  private void open() {
    // A directory that does not come back is asked ever less often.
    pauses = state == State.PROBING ? Math.min(MOST_PAUSES, pauses * 2) : 1;
    endsNanos = nanoClock.getAsLong() + pauseNanos * pauses;
    state = State.OPEN;
  }
}
