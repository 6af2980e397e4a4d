// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.block.ByteRange;
import io.s3e.client.RequestFailure;
import io.s3e.memory.Grant;
import io.s3e.memory.Need;
import io.s3e.memory.Purpose;
import io.s3e.metrics.EngineMetrics.Counter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A second GET for a range that a reader waits for and whose first GET is late. It has memory and a
 * place among the GETs of its own, both only if nobody else wants them. The first whole answer
 * wins; the other GET is cancelled (Dean and Barroso, "The Tail at Scale", CACM 56, 2013).
 *
 * <p><b>States.</b> Under way; then over, once, by the end of its attempt: <i>won</i>, its bytes
 * are handed to the run, or <i>lost</i>, because its GET failed, because the run has ended, because
 * the first GET ended while the run was being told, or because the run has all its bytes. Its
 * pooled buffers, which hold all bytes until then, are given back at the end in each case.
 */
final class Hedge implements Body.Destination, Attempt.Outcome {
  final Attempt attempt;

  /**
   * Told that all bytes have come by the hedge: the run ends the first GET and has the hedge
   * {@linkplain #fill fill} what it misses, and {@linkplain #release releases} it. False if the
   * first GET has ended already.
   */
  private final Predicate<Hedge> overtakes;

  private final Grant grant;
  private int filled;

  /** How many of the bytes the run has taken. */
  private int handed;

  private final AtomicBoolean released = new AtomicBoolean();

  private Hedge(Attempt first, Predicate<Hedge> overtakes, Grant grant) {
    this.overtakes = overtakes;
    this.grant = grant;
    ByteRange asked = first.request.range();
    this.attempt =
        new Attempt(this, this, first.tenant, first.handle, first.gate, asked, Purpose.HEDGE, 1);
  }

  /** A hedge of that GET; null if there is nothing to spare for it now. */
  static @Nullable Hedge of(Attempt first, Predicate<Hedge> overtakes) {
    Tenant tenant = first.tenant;
    int blockBytes = tenant.config.blockBytes();
    long blocks = (first.request.range().length() + blockBytes - 1) / blockBytes;
    Need need = new Need(Math.toIntExact(blocks), Need.MemoryKind.POOLED);
    Grant grant =
        tenant.admission.trySpeculate(tenant.account, first.request.object(), need, Purpose.HEDGE);
    if (grant == null) {
      return null;
    }
    Hedge hedge = null;
    try {
      if (tenant.store.hedges().tryTake()) {
        hedge = new Hedge(first, overtakes, grant);
      }
      return hedge;
    } finally {
      if (hedge == null) {
        grant.giveBack();
      }
    }
  }

  @Override
  public void endsAt(long offset) throws IOException {
    throw new IOException("the object ends inside a range that is asked for twice");
  }

  @Override
  public void put(int ahead, ByteBuffer chunk) {
    grant.put(filled + ahead, chunk);
  }

  /** Handed over once the hedge has won. */
  @Override
  public void filled(int count) {
    filled += count;
  }

  /** Hands over what {@code landing} misses, which is {@code origin}'s by this GET from then on. */
  void fill(Landing landing, Origin origin) {
    // All bytes of a GET may have landed while its client's last word is still to come.
    if (landing.isComplete()) {
      return;
    }
    attempt.tenant.metrics.count(Counter.HEDGES_WON);
    long missing = landing.missing().start();
    attempt.get.keptFrom(missing);
    // Not before: a reader of what the first GET brought would count for this one.
    origin.asksBy(attempt.get);
    int blockBytes = attempt.tenant.config.blockBytes();
    int skipped = Math.toIntExact(missing - attempt.request.range().start());
    for (int at = skipped; at < filled; ) {
      int inBlock = at % blockBytes;
      int count = Math.min(filled - at, blockBytes - inBlock);
      ByteBuffer bytes = grant.leases().get(at / blockBytes).buffer().duplicate();
      handed += count;
      landing.put(0, bytes.limit(inBlock + count).position(inBlock));
      landing.filled(count);
      at += count;
    }
  }

  /** The hedge is over: what the run has not taken came twice. Idempotent. */
  void release() {
    if (released.compareAndSet(false, true)) {
      grant.giveBack();
      attempt.discard(filled - handed);
    }
  }

  @Override
  public void attemptDone() {
    if (!overtakes.test(this)) {
      release();
    }
  }

  @Override
  public void attemptFailed(RequestFailure failure) {
    release();
  }

  @Override
  public void attemptCancelled(Attempt cancelled, IOException why) {
    release();
  }
}
