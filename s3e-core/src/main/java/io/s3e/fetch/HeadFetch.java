// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.block.ObjectVersion;
import io.s3e.client.HeadRequest;
import io.s3e.client.ObjectHead;
import io.s3e.client.Remedy;
import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Effort;
import io.s3e.client.RequestFailure.Effort.End;
import io.s3e.fault.FaultPolicy;
import io.s3e.fault.FaultPolicy.SendAgain;
import io.s3e.fault.Gate;
import io.s3e.fault.History;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * HEADs of one tenant: sent, and sent again, by the policy and through the gate that GETs go by.
 * The thread that asks waits, as long as the patience of its read lasts. Any thread.
 */
public record HeadFetch(Tenant tenant) {
  /**
   * Asks the store for size and version, for as long as a read would.
   *
   * @throws RequestFailure the last failure, with the attempts made
   * @throws InterruptedIOException if the thread was interrupted; its flag is set
   */
  public ObjectHead head(HeadRequest request) throws IOException {
    Patience patience = new Patience(tenant.config.readTimeout());
    return head(request, patience, () -> patience.isOver() || tenant.isClosed());
  }

  private ObjectHead head(HeadRequest request, Patience patience, BooleanSupplier ended)
      throws IOException {
    Gate gate = tenant.gate(request.object());
    long started = System.nanoTime();
    try {
      if (!gate.awaitDemand(ended)) {
        throw ReaderWaits.unsent(gate, request.subject(), tenant.config.readTimeout());
      }
    } catch (InterruptedException e) {
      throw ReaderWaits.interrupted("before HEAD " + request.object());
    }
    History history = History.NONE;
    for (int sent = 1; ; sent++) {
      RequestFailure failure;
      try {
        return send(gate, request);
      } catch (RequestFailure e) {
        failure = e;
      }
      // Some clients notice an interrupt only when their time-out ends the request.
      if (Thread.currentThread().isInterrupted()) {
        throw interrupted(failure);
      }
      history = history.failed(failure, gate.hasAnswered());
      SendAgain again =
          tenant.config.policy().after(failure, history, ThreadLocalRandom.current().nextDouble());
      if (again == null || !pause(gate, again, failure, patience, ended)) {
        End end = patience.isOver() ? End.DEADLINE : End.FAILURE;
        Duration elapsed = Duration.ofNanos(System.nanoTime() - started);
        throw failure.with(new Effort(sent, elapsed, end));
      }
      history = history.after(failure, again.remedy());
    }
  }

  /**
   * Finds out the size of an object that ends before a range of it, and tells the handle.
   *
   * @throws IOException if the size was not just the opener's word, or cannot be found out
   */
  public void confirmSize(ObjectHandle handle, ObjectTruncatedException cause, Patience patience)
      throws IOException {
    if (!handle.isSizeOpen()) {
      return;
    }
    ObjectHead head = head(handle, cause, patience);
    if (!handle.pinTotal(head.size())) {
      throw changed(handle, head, cause);
    }
  }

  /**
   * Finds out which encoding is the object's own, and tells the handle: answers with another one
   * are asked for again.
   *
   * @throws IOException if the object has changed, or it cannot be found out
   */
  public void confirmEncoding(ObjectHandle handle, EncodedBodyException cause, Patience patience)
      throws IOException {
    if (handle.storedEncoding != null) {
      // Other ranges of the read had such an answer as well, and one of them has asked.
      return;
    }
    String encoding = head(handle, cause, patience).contentEncoding();
    handle.storedEncoding = encoding == null ? "" : encoding;
  }

  private ObjectHead head(ObjectHandle handle, IOException cause, Patience patience)
      throws IOException {
    ObjectVersion version = handle.version;
    ObjectHead head =
        head(
            new HeadRequest(version.object(), version.versionId(), handle.headers, handle.context),
            patience,
            () -> patience.isOver() || new ReaderWaits(tenant).hasEnded(handle));
    String etag = handle.etag();
    if (etag != null && !etag.equals(head.etag())) {
      throw changed(handle, head, cause);
    }
    return head;
  }

  private static ObjectChangedException changed(
      ObjectHandle handle, ObjectHead head, IOException cause) {
    String now = " now has ETag " + head.etag() + " and " + head.size() + " bytes";
    return new ObjectChangedException(
        "Object changed while it was read: " + handle.version.object() + now, cause);
  }

  private ObjectHead send(Gate gate, HeadRequest request) throws IOException {
    Gate.Outcome outcome = Gate.Outcome.CANCELLED;
    RequestFailure failure = null;
    gate.sent();
    try {
      ObjectHead head = tenant.client.head(request);
      outcome = Gate.Outcome.ANSWERED;
      return head;
    } catch (RequestFailure e) {
      failure = e;
      outcome = FaultPolicy.outcome(e);
      throw e;
    } catch (RuntimeException e) {
      String reason = "client refused: " + e;
      throw new RequestFailure(RequestFailure.Kind.OTHER, request.subject(), reason, e);
    } finally {
      gate.ended(outcome, failure);
    }
  }

  /** False if the patience is over first, or nobody waits any more. */
  private boolean pause(
      Gate gate, SendAgain again, RequestFailure failure, Patience patience, BooleanSupplier ended)
      throws InterruptedIOException {
    // Where the engine closes, so does the tenant, which ends the wait.
    BooleanSupplier givenUp =
        () -> {
          LongWaits.look(gate, patience, failure::getMessage);
          return ended.getAsBoolean();
        };
    try {
      if (again.remedy() != Remedy.NONE) {
        CountDownLatch isDone = new CountDownLatch(1);
        tenant.client.remedy(again.remedy(), failure.answer(), isDone::countDown);
        while (!isDone.await(ReaderWaits.CLOSED_CHECK_NANOS, TimeUnit.NANOSECONDS)) {
          if (givenUp.getAsBoolean()) {
            return false;
          }
        }
      }
      return gate.awaitRetry(again.pauseNanos(), givenUp);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw interrupted(failure);
    } catch (RuntimeException e) {
      // The client's: what the store has said counts more.
      failure.addSuppressed(e);
      return false;
    }
  }

  private static InterruptedIOException interrupted(RequestFailure failure) {
    return (InterruptedIOException)
        new InterruptedIOException(failure.getMessage()).initCause(failure);
  }
}
