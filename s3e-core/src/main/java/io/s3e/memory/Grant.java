// SPDX-License-Identifier: Apache-2.0
package io.s3e.memory;

import io.s3e.buffer.BlockLease;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The memory and the place in a lane that one GET was granted. Owned by its run, which hands the
 * memory on to the blocks or gives it back, and ends the concurrency of a copied GET when the GET
 * ends.
 *
 * <p><b>The place</b> of a copied GET:
 *
 * <pre>
 *   IN_LANE --(it hangs)--&gt; ASIDE          one of the overdue that the client carries beyond its lane
 *   IN_LANE, ASIDE --(it has failed)--&gt; PAUSED     nothing is under way
 *   PAUSED --(it is sent again)--&gt; ASIDE, or IN_LANE as any reader's
 *   any --(the run is over)--&gt; LEFT
 * </pre>
 *
 * <p>So what is under way never exceeds what the client carries, and runs whose GETs hang, however
 * many, end up outside the lane. LEFT is reached once. A client that carries no overdue GETs has a
 * run keep its place, and a lent slot is kept in any case: it is memory.
 *
 * <p>Where no more can be overdue, a run whose GET hangs gives the GET up while other readers want
 * the place: it goes to PAUSED, or ends and gives its slot back ({@link #canYield}).
 *
 * <p>A grant for a guess is <i>revocable</i> as long as it holds a place and nobody reads what it
 * is for: {@link Admission} may ask its run to give up.
 */
public final class Grant {
  private enum LanePlace {
    IN_LANE,
    ASIDE,
    PAUSED,
    LEFT
  }

  private final Account account;
  private final Object object;
  private final List<BlockLease> leases;
  private final Purpose purpose;
  private final boolean lent;

  /** Guarded by this; the lock of {@link ObjectPlaces} is taken under it. */
  private LanePlace place = LanePlace.IN_LANE;

  /** How the run of a guess is asked to give up; null as long as it cannot be. */
  private volatile Carrier.@Nullable Revocable guess;

  Grant(Account account, Object object, List<BlockLease> leases, Purpose purpose, boolean lent) {
    this.account = account;
    this.object = object;
    this.leases = leases;
    this.purpose = purpose;
    this.lent = lent;
    long slot = lent ? account.carrier().limits().lentSlotBytes() : 0;
    long bytes = slot + leases.stream().mapToLong(BlockLease::bytes).sum();
    // Last: what is not made counts for nothing.
    (lent ? account.slots : account.copies).incrementAndGet();
    account.hold(bytes);
  }

  public Purpose purpose() {
    return purpose;
  }

  /**
   * Whether the GET gets the client's own buffer. The slot then lives as long as its blocks, or, if
   * there are {@linkplain #leases leases} as well, until the bytes have passed on to those.
   */
  public boolean isLent() {
    return lent;
  }

  /** One buffer for each block, in order; empty if the blocks live in the slot. */
  public List<BlockLease> leases() {
    return leases;
  }

  /** Puts {@code chunk} into the buffers, one behind the other, from byte {@code to} of all on. */
  public void put(int to, ByteBuffer chunk) {
    int size = leases.get(0).bytes();
    for (int at = to; chunk.hasRemaining(); ) {
      int count = Math.min(chunk.remaining(), size - at % size);
      leases.get(at / size).buffer().put(at % size, chunk, chunk.position(), count);
      chunk.position(chunk.position() + count);
      at += count;
    }
  }

  /** The run will not be sent: gives everything back. */
  public void giveBack() {
    leases.forEach(this::release);
    leaveLane();
  }

  /**
   * Has {@link Admission} ask by {@code task}, once at most, that the run give up; that answers
   * false where a reader waits for the run now. Only for a guess.
   */
  public void onRevoked(BooleanSupplier task) {
    if (purpose == Purpose.GUESS) {
      Carrier.Revocable revocable = new Carrier.Revocable(task);
      guess = revocable;
      account.carrier().guesses.add(revocable);
    }
  }

  /** A copied GET is over, or a lent one ended without having been given a buffer. */
  public void leaveLane() {
    landed();
    if (isLent()) {
      releaseSlot();
      return;
    }
    synchronized (this) {
      if (place == LanePlace.LEFT) {
        throw new IllegalStateException("left its lane twice");
      }
      moveTo(LanePlace.LEFT);
    }
  }

  /**
   * The GET is late for its reader: its object is one that does not answer, and it gives its place
   * to others, if the client carries one GET more. Any thread, any number of times; whether it
   * holds no place now.
   */
  public synchronized boolean overdue() {
    account.carrier().copiesByObject.late(object);
    if (isLent()) {
      return false;
    }
    if (place == LanePlace.IN_LANE && account.carrier().copies.tryAddOverdue()) {
      moveTo(LanePlace.ASIDE);
    }
    return place != LanePlace.IN_LANE;
  }

  /** Whether others have what the GET holds once it has been given up. */
  public boolean canYield() {
    return isLent() || account.carrier().copies.hasOverdue();
  }

  /** The GET has failed and is to be sent again: until {@link #resume} it needs no place. */
  public synchronized void pause() {
    if (!isLent() && place != LanePlace.LEFT && account.carrier().copies.hasOverdue()) {
      moveTo(LanePlace.PAUSED);
    }
  }

  /** Takes what the next GET needs; false if there is nothing: it has to be asked for again. */
  public synchronized boolean resume() {
    if (place != LanePlace.PAUSED) {
      return true;
    }
    Carrier carrier = account.carrier();
    if (carrier.copies.tryAddOverdue()) {
      moveTo(LanePlace.ASIDE);
      return true;
    }
    // As any reader's: of objects that do not answer ObjectPlaces bounds the places.
    int kept = carrier.copies.kept(Purpose.DEMAND, account.copies.get(), account.isShared());
    if (!carrier.copiesByObject.tryEnter(object, kept)) {
      return false;
    }
    account.copies.incrementAndGet();
    moveTo(LanePlace.IN_LANE);
    return true;
  }

  /** Gives back what the place was, with the lock; the caller has taken what the next one is. */
  private void moveTo(LanePlace next) {
    LanePlace before = place;
    place = next;
    if (before == LanePlace.IN_LANE) {
      account.copies.decrementAndGet();
      account.carrier().copiesByObject.leave(object);
      account.roomMade();
    } else if (before == LanePlace.ASIDE) {
      account.carrier().copies.endOverdue();
    }
  }

  public void release(BlockLease lease) {
    lease.release();
    account.hold(-lease.bytes());
    account.roomMade();
  }

  /** The bytes have come, or the run is over: there is nothing left to be revoked. */
  public void landed() {
    Carrier.Revocable revocable = guess;
    if (revocable != null) {
      boolean unused = account.carrier().guesses.remove(revocable);
    }
  }

  /** The blocks of a lent slot are dead. */
  public void releaseSlot() {
    account.slots.decrementAndGet();
    account.hold(-account.carrier().limits().lentSlotBytes());
    account.carrier().slots.leave();
    account.roomMade();
  }
}
