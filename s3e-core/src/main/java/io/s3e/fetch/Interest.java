package io.s3e.fetch;

import io.s3e.memory.Purpose;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The stream and the readers that want the blocks of one run. The stream that started the run
 * counts one, each reader that waits on a block of the run counts one. Once the last has left no
 * reader can join: a latecomer fetches anew.
 *
 * <p>A run that no reader has ever waited for is a guess, whose failure concerns nobody. What a
 * reader has asked for counts as waited for from the start. Any thread.
 */
final class Interest {
  private final AtomicInteger interested = new AtomicInteger(1);
  private final AtomicInteger waiting = new AtomicInteger();
  private final Runnable unwanted;
  private volatile boolean demanded;

  /**
   * @param unwanted called once, when the last has left
   */
  Interest(Purpose purpose, Runnable unwanted) {
    this.unwanted = unwanted;
    this.demanded = purpose != Purpose.GUESS;
  }

  /** One more reader is about to wait. False if the run has been given up. */
  boolean join() {
    for (; ; ) {
      int now = interested.get();
      if (now == 0) {
        return false;
      }
      if (interested.compareAndSet(now, now + 1)) {
        waiting.incrementAndGet();
        demanded = true;
        return true;
      }
    }
  }

  /** A reader that has joined waits no more. */
  void leave() {
    waiting.decrementAndGet();
    abandon();
  }

  /** The stream that started the run gives it up. */
  void abandon() {
    if (interested.decrementAndGet() == 0) {
      unwanted.run();
    }
  }

  int count() {
    return interested.get();
  }

  /** Whether some reader waits or has waited. */
  boolean isDemanded() {
    return demanded;
  }

  /** Whether some reader waits now. */
  boolean isAwaited() {
    return waiting.get() > 0;
  }

  /** Whether a failure concerns a reader. */
  boolean isForAReader() {
    return demanded && interested.get() > 0;
  }
}
