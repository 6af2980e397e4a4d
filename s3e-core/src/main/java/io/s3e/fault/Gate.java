// SPDX-License-Identifier: Apache-2.0
package io.s3e.fault;

import io.s3e.client.RequestFailure;
import io.s3e.jvm.Background;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The gate before the GETs to one endpoint and bucket, for all tenants of an engine. {@link
 * GateRate} has the numbers: when a request may be sent, by what became of those before. The gate
 * has those that wait.
 *
 * <p><b>States of a waiter.</b> A retry <i>sleeps</i> until its pause is over, then it is
 * <i>due</i>; a demand is due at once. A waiter is <i>over</i> when it has passed, which it does
 * once, or has left. A good answer after everybody was refused makes all sleepers due. Where
 * requests pass as probes alone, sleepers may be probes too, the one with the shortest rest first,
 * and retries and demands take turns: a demand may wait for memory that the runs of retries hold.
 * The last demand goes first then, since those before it may read what hangs.
 *
 * <p><b>Nothing is lost.</b> Waiters are in a queue until they pass, and whoever takes one out of
 * its queue, under the lock, lets it pass. They are looked at when a request has ended, when a
 * retry's pause is over, and every {@value #TICK_MILLIS} ms as long as time alone may let one pass.
 * A pass that is not used, since its run or its reader has given up, goes to the next.
 *
 * <p><b>Gate and rate</b> are one thing in two files, and name each other's words ({@link Outcome},
 * {@link GateRate.WaiterKind}), so that the rate's arithmetic is tested without threads and clock.
 *
 * <p><b>Locks.</b> The monitor guards the numbers and the queues. Nothing is sent and nobody is
 * woken under it. A gate that lets everything pass is seen without it.
 */
public final class Gate {
  private static final Logger LOG = LoggerFactory.getLogger(Gate.class);

  private static final long TICK_MILLIS = 20;
  private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(TICK_MILLIS);

  /** A reader that waits for longer lets others pass itself. */
  private static final int PARKS_TO_TURN = 10;

  /** How a request ended, as the gate counts it. */
  public enum Outcome {
    /** The store did what was asked, or refused for a reason of the request's own. */
    ANSWERED,
    /** The same, and it has to be sent again to another place, which costs no token. */
    MOVED,
    THROTTLED,
    /** The store could not be reached, broke off, or failed inside. */
    UNAVAILABLE,
    /** Cancelled here, or given up after a silence, maybe of the object's alone. */
    CANCELLED
  }

  /** Runs a task after so many ns, unless the engine is closing; false then. */
  @FunctionalInterface
  public interface Later {
    boolean run(Runnable task, long nanos);
  }

  private static final class Waiter {
    private final GateRate.WaiterKind kind;

    private final Runnable pass;

    /** When its pause is over, by the gate's clock. */
    private final long pauseEndNanos;

    /** When it may pass: then, or earlier. Guarded by the gate. */
    private long dueNanos;

    /** Whether it is over; written under the gate's lock. */
    private volatile boolean over;

    Waiter(GateRate.WaiterKind kind, long dueNanos, Runnable pass) {
      this.kind = kind;
      this.pauseEndNanos = dueNanos;
      this.dueNanos = dueNanos;
      this.pass = pass;
    }

    boolean isDue(long now) {
      return dueNanos - now <= 0;
    }
  }

  private final Later later;
  private final LongSupplier clock;

  // Guarded by this.
  private final GateRate rate = new GateRate();
  private final Deque<Waiter> demands = new ArrayDeque<>();

  /** The one that is due first is the first; those that sleep are behind those that are due. */
  private final PriorityQueue<Waiter> retries;

  /** Who passed last: retries and those who were never sent take turns. */
  private GateRate.WaiterKind latest = GateRate.WaiterKind.DEMAND;

  private boolean ticks;
  private long usedNanos;

  /** Whether everything passes, which only ends of requests change. */
  private volatile boolean open = true;

  private volatile boolean answered;

  /** The last bad answer since the last good one; null if there is none. */
  private volatile @Nullable RequestFailure lastFailure;

  /** When somebody was last told of readers that wait for long; null if nobody was. */
  private final AtomicReference<@Nullable Long> toldNanos = new AtomicReference<>();

  Gate(Later later, LongSupplier clock) {
    this.later = later;
    this.clock = clock;
    this.usedNanos = clock.getAsLong();
    long origin = usedNanos;
    Comparator<Waiter> byDue = Comparator.comparingLong(one -> one.dueNanos - origin);
    retries = new PriorityQueue<>(byDue.thenComparingLong(one -> one.pauseEndNanos - origin));
  }

  /** Whether the store has ever answered a request of this JVM's. */
  public boolean hasAnswered() {
    return answered;
  }

  /**
   * Whether somebody is to be told now that readers wait for long, for it was not told for so many
   * ns. It counts as told then.
   */
  public boolean tryTell(long nanos) {
    Long told = toldNanos.get();
    long now = clock.getAsLong();
    return (told == null || now - told >= nanos) && toldNanos.compareAndSet(told, now);
  }

  /** How the store refused others last, for those who could not send; null if it has not. */
  public @Nullable RequestFailure lastFailure() {
    return lastFailure;
  }

  /** Whether everything passes. */
  public boolean isOpen() {
    return open;
  }

  /** Whether the store has refused everybody of late. */
  public synchronized boolean isInDoubt() {
    return rate.isInDoubt();
  }

  /** Whether a guess may be sent now, with {@code unsent} that were admitted. Takes nothing. */
  public boolean admitsGuess(int unsent) {
    if (open) {
      return true;
    }
    synchronized (this) {
      return demands.isEmpty() && rate.admitsGuess(clock.getAsLong(), unsent);
    }
  }

  /**
   * Waits until a request that a reader waits for may be sent. Takes nothing.
   *
   * @param givenUp whether the reader wants it no more; asked now and then
   * @return false if the reader has given up
   */
  public boolean awaitDemand(BooleanSupplier givenUp) throws InterruptedException {
    return open || await(GateRate.WaiterKind.DEMAND, 0, givenUp);
  }

  /** The same for one that has failed, after a pause of so many ns, as {@link #retry} has it. */
  public boolean awaitRetry(long pauseNanos, BooleanSupplier givenUp) throws InterruptedException {
    return await(GateRate.WaiterKind.RETRY, pauseNanos, givenUp);
  }

  private boolean await(GateRate.WaiterKind kind, long pauseNanos, BooleanSupplier givenUp)
      throws InterruptedException {
    Thread self = Thread.currentThread();
    Waiter waiter = enter(kind, pauseNanos, () -> LockSupport.unpark(self));
    int parks = 0;
    boolean isUsed = false;
    try {
      while (!waiter.over) {
        if (givenUp.getAsBoolean()) {
          return false;
        }
        LockSupport.parkNanos(this, TICK_NANOS);
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
        if (++parks % PARKS_TO_TURN == 0 || kind == GateRate.WaiterKind.RETRY) {
          // The timer may have failed to tick, and does not know of this pause.
          turn();
        }
      }
      isUsed = kind == GateRate.WaiterKind.DEMAND || !givenUp.getAsBoolean();
      return isUsed;
    } finally {
      if (!leave(waiter) && !isUsed && kind == GateRate.WaiterKind.RETRY) {
        unused();
      }
    }
  }

  /** Runs {@code pass} once, when a request that somebody waits for may be sent. */
  Waiter enter(GateRate.WaiterKind kind, long pauseNanos, Runnable pass) {
    Waiter waiter = new Waiter(kind, clock.getAsLong() + pauseNanos, pass);
    synchronized (this) {
      (kind == GateRate.WaiterKind.DEMAND ? demands : retries).add(waiter);
    }
    turn();
    return waiter;
  }

  /** False if it does not wait any more: it has passed, or left before. */
  private synchronized boolean leave(Waiter waiter) {
    if (waiter.over) {
      return false;
    }
    waiter.over = true;
    return demands.remove(waiter) || retries.remove(waiter);
  }

  /** A request is sent; whether it is a probe, since the store refuses everybody. */
  public synchronized boolean sent() {
    usedNanos = clock.getAsLong();
    return rate.sent(usedNanos);
  }

  /** A request that was sent is over; once for each. The failure is null if it has not failed. */
  public void ended(Outcome outcome, @Nullable RequestFailure failure) {
    boolean isAnybodyWaiting;
    synchronized (this) {
      long now = clock.getAsLong();
      boolean wasShut = rate.isShut(now);
      rate.ended(outcome, now);
      if (wasShut && !rate.isShut(now)) {
        for (Waiter retry : retries) {
          // None overtakes another one by that, so that the queue stays in order.
          retry.dueNanos = retry.isDue(now) ? retry.dueNanos : now;
        }
      }
      open = rate.isOpen();
      answered |= outcome != Outcome.UNAVAILABLE && outcome != Outcome.CANCELLED;
      lastFailure =
          switch (outcome) {
            case ANSWERED, MOVED -> null;
            case THROTTLED, UNAVAILABLE -> failure;
            case CANCELLED -> lastFailure;
          };
      isAnybodyWaiting = isAnybodyWaiting();
    }
    if (isAnybodyWaiting) {
      turn();
    }
  }

  private boolean isAnybodyWaiting() {
    return !(demands.isEmpty() && retries.isEmpty());
  }

  /**
   * Runs {@code send} once, when a request that has failed may be sent again: not before {@code
   * pauseNanos} ns have passed, unless the store refuses everybody and this one is the probe, or
   * has answered somebody after that. Runs it at once, on this thread, if the pause is 0 and
   * nothing speaks against it; else on the timer's or on that of another request's end. False if
   * the engine is closing, and {@code send} will not run.
   */
  public boolean retry(long pauseNanos, Runnable send) {
    Waiter waiter = enter(GateRate.WaiterKind.RETRY, pauseNanos, send);
    return waiter.over || later.run(this::turn, pauseNanos) || !leave(waiter);
  }

  /** Lets pass whoever may. */
  private void turn() {
    for (Waiter next = takeNext(); next != null; next = takeNext()) {
      pass(next);
    }
  }

  // An error of one must not keep the others waiting.
  @SuppressWarnings("IllegalCatch")
  private void pass(Waiter waiter) {
    try {
      waiter.pass.run();
    } catch (Throwable e) {
      Background.log(() -> LOG.warn("A request could not be sent again", e));
      unused();
    }
  }

  /** The retry that has just passed sends nothing: its pass is the next one's. */
  public synchronized void unused() {
    rate.passUnused();
  }

  private synchronized @Nullable Waiter takeNext() {
    long now = clock.getAsLong();
    Waiter taken = rate.isShut(now) ? takeProbe(now) : takeDue(now);
    if (taken == null) {
      tickIfNeeded(now);
    } else {
      taken.over = true;
      latest = taken.kind;
    }
    return taken;
  }

  private @Nullable Waiter takeDue(long now) {
    boolean isRetryFirst = latest == GateRate.WaiterKind.DEMAND;
    Waiter first = takeDue(isRetryFirst ? retries : demands, now);
    return first != null ? first : takeDue(isRetryFirst ? demands : retries, now);
  }

  private @Nullable Waiter takeDue(Queue<Waiter> queue, long now) {
    Waiter first = queue.peek();
    boolean passes = first != null && first.isDue(now) && rate.pass(first.kind, now);
    return passes ? queue.remove() : null;
  }

  private @Nullable Waiter takeProbe(long now) {
    if (!isAnybodyWaiting() || !rate.pass(latest, now)) {
      return null;
    }
    boolean isRetrysTurn = latest == GateRate.WaiterKind.DEMAND && !retries.isEmpty();
    return demands.isEmpty() || isRetrysTurn ? retries.remove() : demands.removeLast();
  }

  private void tickIfNeeded(long now) {
    Waiter retry = retries.peek();
    boolean mayRetry = retry != null && (retry.isDue(now) || rate.isInDoubt());
    if ((!demands.isEmpty() || mayRetry) && !ticks) {
      ticks = later.run(this::tick, TICK_NANOS);
    }
  }

  private void tick() {
    synchronized (this) {
      ticks = false;
    }
    turn();
  }

  /** Whether nobody has used it for so many ns, and nobody would notice if it were made anew. */
  synchronized boolean isUnused(long nanos) {
    return rate.isIdle() && !isAnybodyWaiting() && clock.getAsLong() - usedNanos > nanos;
  }
}
