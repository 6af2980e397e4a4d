// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.block.ByteRange;
import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Effort;
import io.s3e.fault.FaultPolicy;
import io.s3e.fault.FaultPolicy.SendAgain;
import io.s3e.fault.Gate;
import io.s3e.fault.History;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The effort made for one run so far, what follows from it for the next GET, and the errors that
 * tell of it. Any thread; GETs and failures are noted between attempts.
 */
final class RunEffort {
  private final ObjectHandle handle;
  private final Supplier<ByteRange> range;
  private final long startedNanos = System.nanoTime();
  private final AtomicInteger sent = new AtomicInteger();

  /** When a part of the run has last come; its start as long as none has. */
  private volatile long progressedNanos = startedNanos;

  // Written between attempts.
  private History history = History.NONE;
  private long longestPart = Long.MAX_VALUE;
  private long asked;

  /** The failure of the attempt before the present one; null if there was none. */
  volatile @Nullable RequestFailure lastFailure;

  RunEffort(ObjectHandle handle, Supplier<ByteRange> range) {
    this.handle = handle;
    this.range = range;
  }

  /** One more GET is sent: what it asks for, which is all that is missing if {@code isWhole}. */
  ByteRange sends(ByteRange missing, boolean isWhole) {
    sent.incrementAndGet();
    long most = Math.min(longestPart, handle.longestGet.bytes());
    ByteRange part = isWhole ? missing : LongestGet.firstPart(missing, most);
    asked = part.length();
    return part;
  }

  /** Which attempt in a row without a new block the next one is, from 1. */
  int nextAttempt() {
    return history.failures() + 1;
  }

  /** What was asked for has come: the run, or a part of it. */
  void came() {
    handle.longestGet.came(asked);
    history = History.NONE;
    progressedNanos = System.nanoTime();
  }

  /** What follows a failed attempt, if any; one that {@code gotOn} does not count against a run. */
  @Nullable SendAgain after(RequestFailure failure, boolean gotOn, Gate gate, FaultPolicy policy) {
    history = (gotOn ? History.NONE : history).failed(failure, gate.hasAnswered());
    if (Failures.isForTheReader(failure.getCause())) {
      return null;
    }
    SendAgain again = policy.after(failure, history, ThreadLocalRandom.current().nextDouble());
    if (again != null) {
      if (again.isHalf()) {
        handle.longestGet.broke(asked);
        longestPart = LongestGet.half(asked);
      }
      lastFailure = failure;
      history = history.after(failure, again.remedy());
    }
    return again;
  }

  /** Whether what was asked for is longer than what comes through. */
  boolean isTooLong() {
    return handle.longestGet.bytes() < asked;
  }

  /** For how long nothing has come, in ns. */
  long waitedNanos(long now) {
    return now - progressedNanos;
  }

  /** The blocks of the run and the GETs that were sent for them. */
  String tried() {
    RequestFailure last = lastFailure;
    return subject()
        + " was sent "
        + (sent.get() == 1 ? "once" : sent.get() + " times")
        + (last == null ? " and not answered" : ", the last failure is: " + last.getMessage());
  }

  long elapsedNanos() {
    return System.nanoTime() - startedNanos;
  }

  /** The error of a run that has failed for good. */
  IOException failed(IOException failure) {
    return failure instanceof RequestFailure request
        ? request.with(soFar(Effort.End.FAILURE))
        : failure;
  }

  /** The error of a reader whose deadline passes: the last failure, or that nothing came. */
  RequestFailure deadlinePassed() {
    RequestFailure last = lastFailure;
    RequestFailure why = last == null ? RequestFailure.timedOut(subject(), "no answer") : last;
    return why.with(soFar(Effort.End.DEADLINE));
  }

  /** The failure of an attempt whose client was silent for so long. */
  RequestFailure stalled(Duration patience) {
    return RequestFailure.timedOut(
        subject(), "stalled: no byte for " + patience.toMillis() + " ms");
  }

  /** The end of a run that is nobody's error. */
  RequestFailure cancelled(String reason) {
    return new RequestFailure(RequestFailure.Kind.CANCELLED, subject(), reason, null);
  }

  private Effort soFar(Effort.End end) {
    return new Effort(Math.max(1, sent.get()), Duration.ofNanos(elapsedNanos()), end);
  }

  private String subject() {
    return "GET " + range.get() + " of " + handle.version.object();
  }
}
