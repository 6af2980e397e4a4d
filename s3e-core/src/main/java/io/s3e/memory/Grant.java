package io.s3e.memory;

import io.s3e.buffer.BlockLease;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The memory and the place in a lane that one GET was granted. Owned by its run, which hands the
 * memory on to the blocks or gives it back, and ends the concurrency of a copied GET when the GET
 * ends.
 *
 * <p>A grant for a guess is <i>revocable</i> as long as it holds a place and nobody reads what it
 * is for: {@link Admission} may ask its run to give up.
 */
public final class Grant {
  private final Admission admission;
  private final Account account;
  private final List<BlockLease> leases;
  private final Purpose purpose;
  private final long grantedNanos;
  private volatile @Nullable Runnable revocation;

  Grant(
      Admission admission,
      Account account,
      List<BlockLease> leases,
      Purpose purpose,
      long grantedNanos) {
    this.admission = admission;
    this.account = account;
    this.leases = leases;
    this.purpose = purpose;
    this.grantedNanos = grantedNanos;
    (isLent() ? account.slots() : account.copies()).incrementAndGet();
    account.hold(
        isLent()
            ? account.carrier().limits().lentSlotBytes()
            : (long) leases.size() * admission.blockBytes());
    if (purpose == Purpose.GUESS) {
      account.carrier().guesses().add(this);
    }
  }

  /** The purpose that the memory was asked for. */
  public Purpose purpose() {
    return purpose;
  }

  /** Whether the GET gets the client's own buffer; the slot then lives as long as its blocks. */
  public boolean isLent() {
    return leases.isEmpty();
  }

  /** One buffer for each block, in order; empty if lent. */
  public List<BlockLease> leases() {
    return leases;
  }

  /**
   * Says how the run is asked to give up. It may do nothing: the run decides whether it is still a
   * guess.
   */
  public void onRevoked(Runnable giveUp) {
    if (purpose == Purpose.GUESS) {
      revocation = giveUp;
    }
  }

  /** A copied GET is over, or a lent one ended without having been given a buffer. */
  public void leaveLane() {
    landed();
    if (isLent()) {
      releaseSlot();
    } else {
      account.copies().decrementAndGet();
      account.carrier().copies().leave();
      admission.wake();
    }
  }

  /** Gives a pooled buffer back. */
  public void release(BlockLease lease) {
    lease.release();
    account.hold(-admission.blockBytes());
    admission.wake();
  }

  /** The bytes have come, or the run is over: there is nothing left to be revoked. */
  public void landed() {
    revocation = null;
    if (purpose == Purpose.GUESS) {
      account.carrier().guesses().remove(this);
    }
  }

  /** The blocks of a lent slot are dead. */
  public void releaseSlot() {
    account.slots().decrementAndGet();
    account.hold(-account.carrier().limits().lentSlotBytes());
    account.carrier().slots().leave();
    admission.wake();
  }

  /** Asks the run to give up; false if it cannot be asked any more. */
  boolean revoke() {
    Runnable giveUp = revocation;
    revocation = null;
    if (giveUp == null) {
      return false;
    }
    giveUp.run();
    return true;
  }

  Account account() {
    return account;
  }

  long grantedNanos() {
    return grantedNanos;
  }
}
