// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.block.ByteRange;
import io.s3e.client.LentBuffer;
import io.s3e.client.RequestFailure;
import io.s3e.fault.Gate;
import io.s3e.memory.Grant;
import io.s3e.memory.Need;
import io.s3e.memory.Purpose;
import io.s3e.metrics.EngineMetrics.Counter;
import java.io.IOException;
import java.nio.ByteBuffer;
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
final class Hedge implements Destination, Attempt.Outcome {
  /** The run whose GET is late. */
  interface Late {
    /**
     * All bytes have come by the hedge. The run ends the first GET and has the hedge {@linkplain
     * Hedge#fill fill} what it misses; false if the first GET has ended already.
     */
    boolean overtaken(Hedge by);
  }

  private final Late late;
  private final Tenant tenant;
  private final ObjectHandle handle;
  private final ByteRange range;
  private final Grant grant;
  private final int blockBytes;
  private final Attempt attempt;
  private int filled;

  /** Bytes of the filled ones that the run has taken. */
  private int used;

  private Hedge(
      Late late, Tenant tenant, ObjectHandle handle, Gate gate, ByteRange range, Grant grant) {
    this.late = late;
    this.tenant = tenant;
    this.handle = handle;
    this.range = range;
    this.grant = grant;
    this.blockBytes = tenant.config().blockBytes();
    this.attempt = new Attempt(this, this, tenant, handle, gate, range, Purpose.HEDGE, 1);
  }

  /** A hedge of the GET for {@code range}; null if there is nothing to spare for it now. */
  static @Nullable Hedge of(
      Late late, Tenant tenant, ObjectHandle handle, Gate gate, ByteRange range) {
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
    if (!tenant.hedges().tryTake()) {
      grant.giveBack();
      return null;
    }
    return new Hedge(late, tenant, handle, gate, range, grant);
  }

  boolean isLate(long now) {
    return attempt.isLate(now);
  }

  GetRecord record() {
    return attempt.record();
  }

  void begin() {
    tenant.metrics().count(Counter.HEDGES);
    handle.listener().onHedge();
    attempt.begin();
  }

  /** The run has ended, or goes on otherwise. */
  void cancel(IOException why) {
    attempt.cancel(why);
  }

  @Override
  public boolean isLent() {
    return false;
  }

  @Override
  public void endsAt(long offset) throws IOException {
    throw new IOException("the object ends inside a range that is asked for twice");
  }

  @Override
  public void accept(ByteBuffer chunk) {
    while (chunk.hasRemaining()) {
      int at = filled % blockBytes;
      int count = Math.min(chunk.remaining(), blockBytes - at);
      grant.leases().get(filled / blockBytes).buffer().put(at, chunk, chunk.position(), count);
      chunk.position(chunk.position() + count);
      filled += count;
    }
  }

  /** All are held until the hedge has won. */
  @Override
  public void hold(ByteBuffer chunk) {
    accept(chunk);
  }

  @Override
  public void keep() {
    // The hedge hands them over.
  }

  @Override
  public long drop() {
    int dropped = filled;
    filled = 0;
    return dropped;
  }

  @Override
  public void accept(LentBuffer buffer) throws IOException {
    buffer.close();
    throw new IOException("a lent buffer that nobody asked for");
  }

  /** Hands over what {@code landing} misses; the hedge is over then. */
  void fill(Landing landing) {
    // All bytes of a GET may have landed while its client's last word is still to come.
    if (!landing.isComplete()) {
      tenant.metrics().count(Counter.HEDGES_WON);
      copyTo(landing);
    }
    release();
  }

  private void copyTo(Landing landing) {
    int skipped = Math.toIntExact(landing.missing().start() - range.start());
    record().keptFrom(landing.missing().start());
    for (int at = skipped; at < filled; ) {
      int inBlock = at % blockBytes;
      int count = Math.min(filled - at, blockBytes - inBlock);
      ByteBuffer bytes = grant.leases().get(at / blockBytes).buffer().duplicate();
      landing.accept(bytes.limit(inBlock + count).position(inBlock));
      used += count;
      at += count;
    }
  }

  /** Ends the hedge: what the run has not taken of its bytes came twice. */
  private void release() {
    record().discarded(filled - used);
    tenant.discarded(handle, filled - used);
    grant.giveBack();
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
