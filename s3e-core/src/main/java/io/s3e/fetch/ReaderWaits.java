// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Effort;
import io.s3e.fault.Gate;
import io.s3e.memory.Account;
import io.s3e.memory.Block;
import io.s3e.memory.Grant;
import io.s3e.memory.Need;
import io.s3e.metrics.EngineMetrics.Counter;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The waits of a reader on its own thread: at the gate, for memory and a place, and for the bytes.
 * Each ends by the reader's {@link Patience}, when its stream or the engine is closed, or when the
 * thread is interrupted. Any thread.
 */
record ReaderWaits(Tenant tenant) {
  /** How soon a wait notices that the engine or its stream is closed. */
  static final long CLOSED_CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /** Waits until a GET for the object may be sent; false if others wait for the thread. */
  boolean atGate(ObjectHandle handle, Patience patience) throws IOException {
    Gate gate = tenant.gate(handle.version.object());
    long started = System.nanoTime();
    String why = " is not sent, since the store refuses all";
    // Where it refuses some, who leaves would begin again behind the others.
    BooleanSupplier leaves =
        () ->
            isOver(handle, patience, why) || (patience.isSpentOnVisit(started) && gate.isInDoubt());
    try {
      while (!gate.awaitDemand(leaves)) {
        requireOpen(handle);
        // Others who read for the same call may have got on meanwhile.
        if (patience.isOver()) {
          throw unsent(gate, subject(handle), tenant.config.readTimeout());
        }
        if (patience.isSpentOnVisit(started)) {
          return false;
        }
      }
      return true;
    } catch (InterruptedException e) {
      throw interrupted("while the store refuses requests");
    } finally {
      tenant.metrics.count(Counter.GATE_WAITS);
      tenant.metrics.add(Counter.GATE_WAIT_NANOS, System.nanoTime() - started);
    }
  }

  /** Waits for what one GET needs; null if others wait for the thread, and the object is full. */
  @Nullable Grant forMemory(ObjectHandle handle, Need need, Patience patience) throws IOException {
    Account account = tenant.account;
    Object object = handle.version.object();
    long since = System.nanoTime();
    String why = " is not sent: other reads hold all memory, or all places among the GETs";
    BooleanSupplier leaves =
        () ->
            isOver(handle, patience, why)
                || (patience.isSpentOnVisit(since) && account.isHeldUp(object));
    try {
      for (; ; ) {
        Grant grant = tenant.admission.await(account, object, need, leaves);
        if (grant != null) {
          return grant;
        }
        requireOpen(handle);
        // Others who read for the same call may have got on meanwhile.
        if (patience.isOver()) {
          long seconds = tenant.config.readTimeout().toSeconds();
          String late = "no memory or place among the GETs became free in " + seconds + " s";
          IOException failure = new IOException(late + ": other reads hold them");
          Exception last = patience.lastFailure;
          // No cause: others may have made that request.
          if (last != null) {
            failure.addSuppressed(last);
          }
          throw failure;
        }
        if (patience.isSpentOnVisit(since)) {
          return null;
        }
      }
    } catch (InterruptedException e) {
      throw interrupted("while waiting for memory");
    }
  }

  /** Waits until an expected block is ready; false as {@link Fetcher#await} tells. */
  boolean forBlock(ObjectHandle handle, Arrival arrival, Patience patience) throws IOException {
    while (!isSettledWithin(arrival.block(), CLOSED_CHECK_NANOS)) {
      requireOpen(handle);
      if (arrival.isOverdue()) {
        return false;
      }
      if (patience.isOverNow()) {
        throw arrival.late();
      }
    }
    return arrival.isReady();
  }

  boolean isSettledWithin(Block block, long nanos) throws IOException {
    try {
      return block.await(nanos);
    } catch (InterruptedException e) {
      throw interrupted("while waiting for " + block.id());
    }
  }

  /** Fails if the engine or the stream is closed, or the read was cancelled. */
  void requireOpen(ObjectHandle handle) throws IOException {
    if (tenant.isClosed()) {
      throw engineClosed();
    }
    String ended = handle.isClosed() ? "Stream is closed!" : handle.cancelled();
    if (ended != null) {
      throw new InterruptedIOException(ended);
    }
  }

  boolean hasEnded(ObjectHandle handle) {
    return tenant.isClosed() || handle.isClosed() || handle.cancelled() != null;
  }

  /** Whether nobody waits any more; tells of a wait that is long, and {@code why} it is. */
  private boolean isOver(ObjectHandle handle, Patience patience, String why) {
    Gate gate = tenant.gate(handle.version.object());
    boolean isOver = patience.isOverNow() || hasEnded(handle);
    LongWaits.look(gate, patience, () -> subject(handle) + why);
    return isOver;
  }

  static RequestFailure engineClosed() {
    return new RequestFailure(RequestFailure.Kind.CANCELLED, "S3E", "the engine is closed", null);
  }

  /** Of a request that was never sent, since the store refused all others meanwhile. */
  static RequestFailure unsent(Gate gate, String subject, Duration waited) {
    RequestFailure last = gate.lastFailure();
    return last == null
        ? RequestFailure.timedOut(subject, "the store has refused all requests until the deadline")
        : last.unsent(subject).with(new Effort(0, waited, Effort.End.DEADLINE));
  }

  static String subject(ObjectHandle handle) {
    return "GET " + handle.version.object();
  }

  static InterruptedIOException interrupted(String when) {
    Thread.currentThread().interrupt();
    return new InterruptedIOException("interrupted " + when);
  }
}
