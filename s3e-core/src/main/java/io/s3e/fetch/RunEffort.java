package io.s3e.fetch;

import io.s3e.block.ByteRange;
import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Effort;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The effort made for one run so far, and the errors that tell of it. Any thread; GETs and failures
 * are noted between attempts.
 */
final class RunEffort {
  private final ObjectHandle handle;
  private final Supplier<ByteRange> range;
  private final long startedNanos = System.nanoTime();
  private final AtomicInteger sent = new AtomicInteger();

  /** When a part of the run has last come; its start as long as none has. */
  private volatile long progressedNanos = startedNanos;

  /** The failure of the attempt before the present one. */
  private volatile @Nullable IOException lastFailure;

  RunEffort(ObjectHandle handle, Supplier<ByteRange> range) {
    this.handle = handle;
    this.range = range;
  }

  /** One more GET is sent. */
  void sends() {
    sent.incrementAndGet();
  }

  /** A part of the run has come. */
  void progressed() {
    progressedNanos = System.nanoTime();
  }

  /** For how long nothing has come, in ns. */
  long waitedNanos(long now) {
    return now - progressedNanos;
  }

  /** The blocks of the run and the GETs that were sent for them. */
  String tried() {
    IOException last = lastFailure;
    return subject()
        + " was sent "
        + (sent.get() == 1 ? "once" : sent.get() + " times")
        + (last == null ? " and not answered" : ", the last failure is: " + last.getMessage());
  }

  /** An attempt has failed, and another one follows. */
  void goesOnAfter(IOException failure) {
    lastFailure = failure;
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
    RequestFailure last =
        lastFailure instanceof RequestFailure request ? request : silent("no answer");
    return last.with(soFar(Effort.End.DEADLINE));
  }

  /** The failure of an attempt whose client was silent for so long. */
  RequestFailure stalled(Duration patience) {
    return silent("stalled: no byte for " + patience.toMillis() + " ms");
  }

  private RequestFailure silent(String reason) {
    return new RequestFailure(
        RequestFailure.Kind.NETWORK, subject(), reason, new SocketTimeoutException(reason));
  }

  /** The end of a run that is nobody's error. */
  RequestFailure cancelled(String reason) {
    return new RequestFailure(RequestFailure.Kind.CANCELLED, subject(), reason, null);
  }

  private Effort soFar(Effort.End end) {
    return new Effort(Math.max(1, sent.get()), Duration.ofNanos(elapsedNanos()), end);
  }

  private String subject() {
    return "GET " + range.get() + " of " + handle.version().object();
  }
}
