// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How long a reader waits without progress: a deadline that moves with every block that comes for
 * it. A read may take long; it fails when it stands still for so long. Knows too how long it has
 * waited: ranges of one read wait beside each other, and the time passes once. Any thread.
 */
public final class Patience {
  /** Who waits looks far more often, unless the JVM or the machine stands still. */
  static final long MOMENT_NANOS = 1_000_000_000;

  final long nanos;
  private final long visitNanos;

  /** When it is over, without progress, by {@link System#nanoTime()}. */
  private volatile long deadline;

  private volatile boolean ended;

  /** How the last block that did not come has failed: what the store has said. */
  volatile @Nullable Exception lastFailure;

  /** Waits of the same read that go on; guarded by this, as are when they began, and a look. */
  private int waits;

  private long waitingSince;
  private long lookedNanos;

  /** Of a reader on a thread of its own. */
  public Patience(Duration limit) {
    this(limit, limit);
  }

  /**
   * @param visit so long its thread waits for a place of an object whose GETs are late and hold all
   *     that it may have. A thread that other readers wait for leaves then: those of objects that
   *     hang would have all
   */
  public Patience(Duration limit, Duration visit) {
    nanos = limit.toNanos();
    visitNanos = visit.toNanos();
    progressed();
  }

  /** Whether a wait that began then, by {@link System#nanoTime()}, is longer than a visit. */
  boolean isSpentOnVisit(long since) {
    return System.nanoTime() - since > visitNanos;
  }

  /** The reader has got on. */
  public synchronized void progressed() {
    lastFailure = null;
    lookedNanos = System.nanoTime();
    deadline = lookedNanos + nanos;
  }

  /** As {@link #isOver}, of one who looks again and again: a late look moves the deadline. */
  public synchronized boolean isOverNow() {
    long now = System.nanoTime();
    deadline += Math.max(0, now - lookedNanos - MOMENT_NANOS);
    lookedNanos = now;
    return isOver();
  }

  /** A part of the read waits for S3. */
  public synchronized void waitBegins() {
    if (waits++ == 0) {
      waitingSince = System.nanoTime();
    }
  }

  /** So many ns have passed since no part has waited; 0 while another one waits still. */
  public synchronized long waitEnds() {
    return --waits == 0 ? System.nanoTime() - waitingSince : 0;
  }

  /** Nobody waits any more. */
  public void end() {
    ended = true;
  }

  public boolean isOver() {
    return ended || leftNanos() <= 0;
  }

  /** Until it is over, without progress; in ns. */
  public long leftNanos() {
    return deadline - System.nanoTime();
  }
}
