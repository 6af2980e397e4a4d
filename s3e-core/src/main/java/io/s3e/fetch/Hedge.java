package io.s3e.fetch;

import io.s3e.block.ByteRange;
import io.s3e.client.RequestFailure;
import io.s3e.fault.Gate;
import io.s3e.memory.Grant;
import io.s3e.memory.Need;
import io.s3e.memory.Purpose;
import io.s3e.metrics.EngineMetrics.Counter;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A second GET for a range that a reader waits for and whose first GET is late. It has memory and a
 * place among the GETs of its own, both only if nobody else wants them. The first whole answer
 * wins; the other GET is cancelled (Dean and Barroso, "The Tail at Scale", CACM 56, 2013).
 *
 * <p><b>States.</b> Under way; then over, once, by the end of its attempt: <i>won</i>, its bytes
 * are handed to the run, or <i>lost</i>, because its GET failed, because the run has ended, because
 * the first GET ended while the run was being told, or because the run has all its bytes. Its
 * memory is given back at the end in each case.
 */
final class Hedge implements Attempt.Outcome {
  /** The run whose GET is late. */
  interface Late {
    /**
     * All bytes have come by the hedge. The run ends the first GET and has the hedge {@linkplain
     * Hedge#fill fill} what it misses.
     *
     * @return false if the first GET has ended already
     */
    boolean overtaken(Hedge by);
  }

  private final Late late;
  private final Tenant tenant;
  private final ObjectHandle handle;
  private final Attempt first;
  private final HedgeBuffers buffers;
  private final Attempt second;

  private Hedge(
      Late late,
      Tenant tenant,
      ObjectHandle handle,
      Gate gate,
      Attempt first,
      HedgeBuffers buffers) {
    this.late = late;
    this.tenant = tenant;
    this.handle = handle;
    this.first = first;
    this.buffers = buffers;
    this.second = new Attempt(this, buffers, tenant, handle, gate, first.range(), Purpose.HEDGE, 1);
  }

  /** A hedge of {@code first}, which is late; null if there is nothing to spare for it now. */
  static @Nullable Hedge of(
      Late late, Tenant tenant, ObjectHandle handle, Gate gate, Attempt first) {
    ByteRange range = first.range();
    int blockBytes = tenant.config().blockBytes();
    int blocks = Math.toIntExact((range.length() + blockBytes - 1) / blockBytes);
    Need need = new Need(blocks, Need.MemoryKind.POOLED);
    Grant grant =
        tenant
            .admission()
            .trySpeculate(tenant.account(), handle.version().object(), need, Purpose.HEDGE);
    if (grant == null) {
      return null;
    }
    HedgeBuffers buffers = new HedgeBuffers(range, grant, blockBytes);
    if (!tenant.hedges().tryTake()) {
      buffers.release();
      return null;
    }
    return new Hedge(late, tenant, handle, gate, first, buffers);
  }

  /** Whether it is that attempt's. */
  boolean isOf(Attempt attempt) {
    return attempt == first;
  }

  /** Whether its GET has taken longer than GETs of its length do as a rule. */
  boolean isLate(long now) {
    return second.isLate(now);
  }

  void begin() {
    tenant.metrics().count(Counter.HEDGES);
    handle.listener().onHedge();
    second.begin();
  }

  /** The run has ended, or goes on otherwise. */
  void cancel(IOException why) {
    second.cancel(why);
  }

  /** Hands over what {@code landing} misses; the hedge is over then. */
  void fill(Landing landing) {
    // All bytes of a GET may have landed while its client's last word is still to come.
    if (!landing.isComplete()) {
      tenant.metrics().count(Counter.HEDGES_WON);
      buffers.fill(landing);
    }
    release();
  }

  /** Ends the hedge: what the run has not taken of its bytes came twice. */
  private void release() {
    tenant.discarded(handle, buffers.unusedBytes());
    buffers.release();
  }

  @Override
  public void attemptDone() {
    if (!late.overtaken(this)) {
      release();
    }
  }

  @Override
  public void attemptFailed(RequestFailure failure) {
    release();
  }

  @Override
  public void attemptCancelled(IOException why) {
    release();
  }
}
