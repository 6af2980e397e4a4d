package io.s3e.fetch;

import java.time.Duration;

/**
 * How long a reader waits without progress: a deadline that moves with every block that comes for
 * it. A read may take long; it fails when it stands still for so long. Any thread.
 */
public final class Patience {
  private final long nanos;

  /** By {@link System#nanoTime()}. */
  private volatile long deadline;

  public Patience(Duration limit) {
    nanos = limit.toNanos();
    progressed();
  }

  /** The reader has got on. */
  public void progressed() {
    deadline = System.nanoTime() + nanos;
  }

  /** Whether there has been no progress for too long. */
  public boolean isOver() {
    return leftNanos() <= 0;
  }

  /** Until it is over, without progress; in ns. */
  public long leftNanos() {
    return deadline - System.nanoTime();
  }

  /** When it is over, without progress, by {@link System#nanoTime()}. */
  long deadline() {
    return deadline;
  }
}
