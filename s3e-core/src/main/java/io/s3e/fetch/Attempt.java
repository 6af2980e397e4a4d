// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.block.ByteRange;
import io.s3e.client.Fence;
import io.s3e.client.GetRequest;
import io.s3e.client.InFlight;
import io.s3e.client.LentBuffer;
import io.s3e.client.ObjectClient;
import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.client.ResponseHandler;
import io.s3e.client.ResponseHead;
import io.s3e.fault.FaultPolicy;
import io.s3e.fault.Gate;
import io.s3e.memory.Purpose;
import io.s3e.metrics.EngineMetrics.Counter;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * One GET of a {@link RunFetch}, or of a {@link Hedge} beside it. Checks the head, counts the
 * {@link Body}, and lets bytes land.
 *
 * <p>Every call of the client that touches memory enters the {@link Fence} first. The attempt ends
 * once, by whoever closes the fence first: the client's terminal call, the deadline, or a cancel.
 * Calls that come later find it closed and change nothing.
 */
final class Attempt implements ResponseHandler {
  /** 4 µs a byte: 256 KiB/s, below which a link is taken for dead at the first attempt. */
  private static final long NANOS_PER_SLOW_BYTE = 4_000;

  private static final int MAX_PATIENCE_DOUBLINGS = 4;

  /** What was measured may be of a store that was far quicker: the other patience bounds this. */
  private static final int MAX_MEASURED_DOUBLINGS = 10;

  /** A GET that is sent again may take up to so many doublings longer before it is in the way. */
  private static final int MAX_LATE_DOUBLINGS = 2;

  /** Hears how it ended, once, when no call of the client can touch the memory any more. */
  interface Outcome {
    /** It brought all that it asked for, or as much of that as there is. */
    void attemptDone();

    void attemptFailed(RequestFailure failure);

    /** Or what follows its end went wrong on the way, as where the heap is full. */
    void attemptCancelled(Attempt attempt, IOException why);
  }

  private final Outcome outcome;
  private final Body.Destination destination;
  final Tenant tenant;
  final ObjectHandle handle;
  final Gate gate;
  final GetRequest request;
  final GetRecord get;
  private final long patienceNanos;
  private final long readerPatienceNanos;
  private final long startedNanos = System.nanoTime();
  private volatile @Nullable Object credentials;
  private final Fence fence = new Fence();
  private volatile long lastByteNanos = startedNanos;
  private volatile ObjectClient.@Nullable Exchange exchange;

  /** Written inside the fence, once the head is accepted. */
  private volatile @Nullable Body body;

  /**
   * Counts as under way at the gate from here on.
   *
   * @param asked which bytes, the first of what is missing
   * @param reason why it is sent: the purpose of the run, or the kind of guess
   * @param number which attempt of the run in a row without a new block, from 1; later ones are
   *     more patient
   */
  Attempt(
      Outcome outcome,
      Body.Destination destination,
      Tenant tenant,
      ObjectHandle handle,
      Gate gate,
      ByteRange asked,
      Enum<?> reason,
      int number) {
    this.outcome = outcome;
    this.destination = destination;
    this.tenant = tenant;
    this.handle = handle;
    this.gate = gate;
    this.request =
        new GetRequest(
            handle.version.object(),
            asked,
            handle.etag(),
            handle.version.versionId(),
            destination.isLent(),
            handle.headers,
            handle.context);
    this.get = tenant.ledger.begin(request, handle.reader, reason, number);
    int doublings = Math.min(number - 1, MAX_PATIENCE_DOUBLINGS);
    long stall = tenant.config.stallTimeout().toNanos() << doublings;
    // A lent response arrives whole, so its silence says nothing until a slow link had its time.
    this.patienceNanos = request.lend() ? stall + asked.length() * NANOS_PER_SLOW_BYTE : stall;
    long measured =
        tenant.store.times().patienceNanos(asked.length())
            << Math.min(number - 1, MAX_MEASURED_DOUBLINGS);
    // A store that has never answered has the time that a handshake needs to fail.
    this.readerPatienceNanos =
        gate.hasAnswered() ? Math.min(patienceNanos, measured) : patienceNanos;
    if (gate.sent()) {
      tenant.metrics.count(Counter.GATE_PROBES);
    }
  }

  private void tellStarted() {
    ByteRange range = request.range();
    handle.listener.onGetStarted(range.start(), range.length(), get.isGuess());
  }

  /** Sends the GET, unless it was cancelled before. */
  void begin() {
    if (fence.isClosed()) {
      get.clientIsThrough();
      return;
    }
    ObjectClient.Exchange started;
    try {
      tellStarted();
      // Before it is signed: where they change meanwhile, the answer is no proof for the new ones.
      credentials = tenant.client.credentials();
      started = tenant.client.get(request, this);
    } catch (RuntimeException | Error e) {
      onFailure(new RequestFailure(Kind.OTHER, get.subject(), "client refused: " + e, e));
      return;
    }
    exchange = started;
    if (fence.isClosed()) {
      InFlight.cancel(started);
    }
  }

  /** How long its client may be silent: not as long if a reader waits. */
  long patienceNanos(boolean isAwaited) {
    return isAwaited ? readerPatienceNanos : patienceNanos;
  }

  long silentNanos(long now) {
    return now - lastByteNanos;
  }

  /** Whether it has taken longer than GETs of its length do as a rule. */
  boolean isLate(long now) {
    return now - startedNanos > lateNanos();
  }

  /**
   * Whether it is in the way of others that want its place. A GET that is sent again is so later:
   * where all have become slow, some must come.
   */
  boolean isInTheWay(long now) {
    return now - startedNanos > lateNanos() << Math.min(get.attempt - 1, MAX_LATE_DOUBLINGS);
  }

  private long lateNanos() {
    return tenant.store.times().lateNanos(request.range().length());
  }

  /** Ends the attempt from outside and tells the client. */
  void cancel(IOException why) {
    boolean unused = cancel(why.toString(), why, () -> outcome.attemptCancelled(this, why));
  }

  /** Ends the attempt because of its client's silence. */
  void giveUp(RequestFailure silence) {
    boolean unused = closeAndCancel(() -> endedBy(silence));
  }

  /** Ends the attempt because its bytes have come by another one; false if it has ended already. */
  boolean overtaken(Runnable then) {
    return cancel("a second GET was quicker", null, then);
  }

  private boolean cancel(String reason, @Nullable IOException why, Runnable then) {
    return closeAndCancel(
        () -> {
          try {
            gate.ended(Gate.Outcome.CANCELLED, null);
            drop();
            report(new RequestFailure(Kind.CANCELLED, get.subject(), reason, why));
          } finally {
            then.run();
          }
        });
  }

  private boolean close(Runnable then) {
    return fence.close(
        () -> {
          try {
            then.run();
          } catch (RuntimeException | Error e) {
            outcome.attemptCancelled(this, Failures.broke(get.subject(), e));
            throw e;
          }
        });
  }

  private boolean closeAndCancel(Runnable then) {
    boolean closed = close(then);
    ObjectClient.Exchange started = exchange;
    if (closed && started != null) {
      InFlight.cancel(started);
    }
    return closed;
  }

  private void endedBy(RequestFailure failure) {
    if (failure.kind() == Kind.THROTTLED) {
      tenant.metrics.count(Counter.THROTTLED);
      tenant.store.hedges().throttled();
    } else if (failure.kind() == Kind.NOT_LENT) {
      tenant.account.pauseLending();
    }
    gate.ended(FaultPolicy.outcome(failure), failure);
    drop();
    report(failure);
    outcome.attemptFailed(failure);
  }

  private void drop() {
    Body came = body;
    discard(came == null ? 0 : came.drop());
  }

  /** So many of the bytes that it brought are of no use to anybody. */
  void discard(long bytes) {
    get.discarded(bytes);
    tenant.discarded(handle, bytes);
  }

  /** Counts, also where the attempt has ended meanwhile: what went out is at the store. */
  @Override
  public void onSent() {
    get.sent();
    handle.count(Counter.GETS, 1);
    boolean isFirst = get.timesSent() == 1;
    if (isFirst && get.reason() == Purpose.HEDGE) {
      handle.count(Counter.HEDGES, 1);
    } else if (isFirst && get.attempt > 1) {
      handle.count(Counter.RETRIES, 1);
    }
    if (get.isGuess()) {
      handle.count(Counter.PREFETCH_GETS, 1);
    }
    handle.listener.onGetSent(request.range().start(), request.range().length(), get.isGuess());
  }

  @Override
  public void onResent(RequestFailure failure) {
    if (!fence.enter()) {
      return;
    }
    try {
      // The client bounds how often; each is waited for as the first.
      lastByteNanos = System.nanoTime();
      gate.ended(FaultPolicy.outcome(failure), failure);
      gate.sent();
      tell(failure);
      tellStarted();
    } finally {
      fence.exit();
    }
  }

  private void report(@Nullable RequestFailure failure) {
    get.ended(failure);
    tell(failure);
  }

  private void tell(@Nullable RequestFailure failure) {
    long nanos = System.nanoTime() - startedNanos;
    handle.listener.onGetFinished(request.range().start(), get.received(), nanos, failure);
  }

  @Override
  public void onHead(ResponseHead head) throws IOException {
    enter();
    try {
      ByteRange told = ResponseCheck.check(request, head, handle);
      if (told.end() < request.range().end()) {
        destination.endsAt(told.end());
      }
      tenant.account.carrier().answered(request.object());
      tenant.proofs.answered(handle, credentials);
      get.answered(head);
      body = new Body(told, head.lengthSource(), destination);
      lastByteNanos = System.nanoTime();
    } finally {
      fence.exit();
    }
  }

  @Override
  public void onData(ByteBuffer chunk) throws IOException {
    enter();
    try {
      Body coming = coming(!request.lend(), chunk.remaining());
      lastByteNanos = System.nanoTime();
      coming.take(chunk);
    } finally {
      fence.exit();
    }
  }

  @Override
  public void onLent(LentBuffer buffer) throws IOException {
    Body coming = null;
    try {
      enter();
      try {
        coming = coming(request.lend(), buffer.bytes().remaining());
        coming.take(buffer);
      } finally {
        fence.exit();
      }
    } finally {
      if (coming == null) {
        buffer.close();
      }
    }
  }

  @Override
  public void onDone() {
    Body came = body;
    if (came == null || !came.isWhole()) {
      String reason = "the answer ended in order" + (came == null ? "" : " after " + came);
      IOException cause = new IOException(reason);
      onFailure(new RequestFailure(Kind.REJECTED, get.subject(), reason, cause));
      return;
    }
    close(
        () -> {
          gate.ended(Gate.Outcome.ANSWERED, null);
          came.keep();
          if (!tenant.timer.stoodStillSince(startedNanos)) {
            tenant.store.times().took(request.range().length(), System.nanoTime() - startedNanos);
          }
          report(null);
          outcome.attemptDone();
        });
    get.clientIsThrough();
  }

  @Override
  public void onFailure(RequestFailure failure) {
    Body came = body;
    if (came != null && came.complete) {
      // Every byte is there and was counted; how the connection ended after them does not matter.
      onDone();
      return;
    }
    // A cancel of ours closes the fence first: this one nobody has asked for, so it counts.
    boolean isUnasked = failure.kind() == Kind.CANCELLED;
    String unasked = "the client gave up unasked: " + failure.reason();
    close(() -> endedBy(isUnasked ? RequestFailure.broken(get.subject(), unasked) : failure));
    get.clientIsThrough();
  }

  private void enter() throws IOException {
    if (!fence.enter()) {
      throw new IOException(get.subject() + " was given up");
    }
  }

  /** The body that so many bytes have come of, which land next; they are counted before. */
  private Body coming(boolean wanted, int count) throws IOException {
    Body coming = body;
    if (coming == null) {
      throw new IOException(get.subject() + ": body before head");
    }
    if (!wanted || !coming.came(count)) {
      String wrong = " bytes after " + coming + ", not what it asked for";
      throw new IOException(get.subject() + ": brought " + count + wrong);
    }
    // Whoever reads them finds them counted.
    get.came(count);
    handle.count(Counter.FETCHED_BYTES, count);
    return coming;
  }
}
