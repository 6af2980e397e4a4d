package io.s3e.fault;

import java.util.function.BooleanSupplier;

/** The gate before the GETs to one endpoint and bucket, for all tenants of an engine. */
public final class Gate {
  /** How a request ended, as the gate counts it. */
  public enum Outcome {
    /** The store did what was asked, or refused for a reason of the request's own. */
    ANSWERED,
    /** The store asked to slow down. */
    THROTTLED,
    /** The store could not be reached, broke off, was silent, or failed inside. */
    UNAVAILABLE,
    /** Cancelled here: it says nothing of the store. */
    CANCELLED
  }

  /** Runs a task after so many ns, unless the engine is closing; false then. */
  @FunctionalInterface
  public interface Later {
    boolean run(Runnable task, long nanos);
  }

  private final Later later;

  Gate(Later later) {
    this.later = later;
  }

  /** Whether the store has ever answered a request of this JVM's. */
  public boolean hasAnswered() {
    return false;
  }

  /** Whether a request that nobody waits for may be sent now. Takes nothing. */
  public boolean admitsGuess() {
    return true;
  }

  /**
   * Waits until a request that a reader waits for may be sent. Takes nothing.
   *
   * @param givenUp whether the reader wants it no more; asked now and then
   * @param deadline by {@link System#nanoTime()}
   * @return false if the deadline passed or the reader has given up
   */
  public boolean awaitDemand(BooleanSupplier givenUp, long deadline) throws InterruptedException {
    return true;
  }

  /** A request is sent. */
  public void sent() {}

  /** A request that was sent is over; once for each. */
  public void ended(Outcome outcome) {}

  /**
   * Runs {@code send} once, when a request that has failed may be sent again: not before {@code
   * pauseNanos} ns have passed, unless the store has answered somebody meanwhile after it had
   * refused everybody. Runs it at once, on this thread, if the pause is 0 and nothing speaks against
   * it; else on the timer's or on that of another request's end.
   *
   * @return false if the engine is closing and {@code send} will not run
   */
  public boolean retry(long pauseNanos, Runnable send) {
    return later.run(send, pauseNanos);
  }
}
