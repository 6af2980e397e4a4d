// SPDX-License-Identifier: Apache-2.0
package io.s3e.memory;

import io.s3e.client.ClientLimits;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/**
 * The concurrency and the lent memory of one set of connections, which the clients of one or more
 * tenants share: a lane of copied GETs, a lane of lent slots, and the slabs that live in the slots.
 */
public final class Carrier {
  /** A guess that holds a place; asks its run to give up, once: false if a reader waits for it. */
  static final class Revocable {
    private final long sinceNanos = System.nanoTime();
    private final BooleanSupplier giveUp;

    Revocable(BooleanSupplier giveUp) {
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
  final Queue<Revocable> guesses = new ConcurrentLinkedQueue<>();

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

  public void answered(Object object) {
    copiesByObject.answered(object);
  }

  /** Has the oldest guess give up of which nothing has come for so long. */
  void revokeStuck(long nanos) {
    long now = System.nanoTime();
    for (Revocable guess : guesses) {
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
