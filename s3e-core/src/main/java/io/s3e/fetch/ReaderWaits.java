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
    Gate gate = tenant.gate(handle.version().object());
    long started = System.nanoTime();
    Duration limit = tenant.config.readTimeout();
    BooleanSupplier givenUp =
        () -> {
          LongWaits.look(
              gate,
              limit.toNanos() - patience.leftNanos(),
              limit,
              () -> subject(handle) + " is not sent, since the store refuses all");
          // Where it refuses some, who leaves would begin again behind the others.
          boolean leaves = patience.isSpentOnVisit(started) && gate.isInDoubt();
          return leaves || patience.isOver() || hasEnded(handle);
        };
    try {
      while (!gate.awaitDemand(givenUp)) {
        requireOpen(handle);
        // Others who read for the same call may have got on meanwhile.
        if (patience.isOver()) {
          throw unsent(gate, subject(handle), limit);
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
    Object object = handle.version().object();
    long since = System.nanoTime();
    BooleanSupplier leaves =
        () ->
            patience.isOver()
                || hasEnded(handle)
                || (patience.isSpentOnVisit(since) && account.isHeldUp(object));
    try {
      for (; ; ) {
        Grant grant = tenant.admission.await(account, object, need, leaves, patience.deadline);
        if (grant != null) {
          return grant;
        }
        requireOpen(handle);
        // Others who read for the same call may have got on meanwhile.
        if (patience.isOver()) {
          String time =
              "no memory became free in " + tenant.config.readTimeout().toSeconds() + " s";
          throw new IOException(time + ": other reads hold the memory budget");
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
      if (patience.isOver()) {
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
    return "GET " + handle.version().object();
  }

  static InterruptedIOException interrupted(String when) {
    Thread.currentThread().interrupt();
    return new InterruptedIOException("interrupted " + when);
  }
}
