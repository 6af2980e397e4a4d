// SPDX-License-Identifier: Apache-2.0
package io.s3e.memory;

import io.s3e.client.ClientLimits;
import io.s3e.client.RequestFailure;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/**
 * The concurrency and the lent memory of one set of connections, which the clients of one or more
 * tenants share: a lane of copied GETs, a lane of lent slots, and the slabs that live in the slots.
 *
 * <p>A client may stop lending while it lives (its memory was refused, or another client reads in
 * its place). It says so by failing a lent GET with {@link RequestFailure.Kind#NOT_LENT}; {@link
 * #pauseLending} then makes every grant a copied one for a minute.
 */
public final class Carrier {
  /** To ask again costs a GET that fails at once; rates without slots are about half as high. */
  private static final long LENDING_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(60);

  /** A guess that holds a place; asks its run to give up, once: false if a reader waits for it. */
  static final class Guess {
    private final long sinceNanos = System.nanoTime();
    private final BooleanSupplier giveUp;

    Guess(BooleanSupplier giveUp) {
      this.giveUp = giveUp;
    }
  }

  private final ClientLimits limits;
  private final Residency lent;
  final Lane copies;
  final ObjectPlaces copiesByObject;
  final Lane slots;

  /** How many tenants use the connections. */
  final AtomicInteger accounts = new AtomicInteger();

  /** Those that may be asked to give up, oldest first. */
  final Queue<Guess> guesses = new ConcurrentLinkedQueue<>();

  /** By {@link System#nanoTime()}; no slot is granted before. */
  private volatile long lendsFromNanos = System.nanoTime();

  Carrier(ClientLimits limits, Residency lent) {
    this.limits = limits;
    this.copies = new Lane(limits.copyRequests(), limits.overdueRequests());
    this.copiesByObject = new ObjectPlaces(copies);
    // A slot is memory: what hangs in one cannot leave it.
    this.slots = new Lane(limits.lentSlots(), 0);
    this.lent = lent;
  }

  public ClientLimits limits() {
    return limits;
  }

  /** Which lent slots stay. */
  public Residency lent() {
    return lent;
  }

  /** Whether slots are granted now. */
  public boolean lends() {
    return slots.capacity > 0 && System.nanoTime() - lendsFromNanos >= 0;
  }

  /** The client has said that it lends nothing for now. */
  public void pauseLending() {
    lendsFromNanos = System.nanoTime() + LENDING_PAUSE_NANOS;
  }

  public void answered(Object object) {
    copiesByObject.answered(object);
  }

  /** How many long guesses may be in flight at once. */
  public int mostLongGuesses() {
    return (lends() ? slots : copies).forGuesses();
  }

  /** Has the oldest guess give up of which nothing has come for so long. */
  void revokeStuck(long nanos) {
    long now = System.nanoTime();
    for (Guess guess : guesses) {
      boolean isYoung = now - guess.sinceNanos < nanos;
      if (isYoung || (guesses.remove(guess) && guess.giveUp.getAsBoolean())) {
        return;
      }
    }
  }

  /** Evicts what lives in the slots, now and from now on. */
  public void close() {
    lent.close();
  }
}
