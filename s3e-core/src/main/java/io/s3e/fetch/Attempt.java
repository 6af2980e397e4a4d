package io.s3e.fetch;

import io.s3e.block.ByteRange;
import io.s3e.client.Fence;
import io.s3e.client.GetRequest;
import io.s3e.client.LentBuffer;
import io.s3e.client.ObjectClient;
import io.s3e.client.RequestFailure;
import io.s3e.client.ResponseHandler;
import io.s3e.client.ResponseHead;
import io.s3e.fault.FaultPolicy;
import io.s3e.fault.Gate;
import io.s3e.memory.Purpose;
import io.s3e.metrics.EngineMetrics.Counter;
import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One GET of a {@link RunFetch}, or of a {@link Hedge} beside it. Checks the head, counts the body,
 * and lets bytes land.
 *
 * <p>Every call of the client that touches memory enters the {@link Fence} first. The attempt ends
 * once, by whoever closes the fence first: the client's terminal call, the deadline, or a cancel.
 * Calls that come later find it closed and change nothing.
 */
final class Attempt implements ResponseHandler {
  /** 4 µs a byte: 256 KiB/s, below which a link is taken for dead at the first attempt. */
  private static final long NANOS_PER_SLOW_BYTE = 4_000;

  private static final int MAX_PATIENCE_DOUBLINGS = 4;

  /** A reader waits for a GET so many times as long as all but one in a hundred have taken. */
  private static final int SLOW_FACTOR = 4;

  private static final double SLOW_SHARE = 0.01;

  /** With what is fetched again, one GET that hangs costs its reader less than a second. */
  private static final long LEAST_PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(700);

  /** A GET is late after so many times as long as all but one in twenty have taken. */
  private static final int LATE_FACTOR = 3;

  private static final double LATE_SHARE = 0.05;
  private static final long LEAST_LATE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  /** Where nothing is known of GETs of that length. */
  private static final long UNKNOWN_LATE_NANOS = TimeUnit.SECONDS.toNanos(1) / LATE_FACTOR;

  /**
   * Hears how the attempt ended, once, when no call of the client can touch the memory any more.
   */
  interface Outcome {
    /** It brought all that it asked for, or as much of that as there is. */
    void attemptDone();

    /** It failed. */
    void attemptFailed(RequestFailure failure);

    /** It was cancelled from outside. */
    void attemptCancelled(IOException why);
  }

  private final Outcome outcome;
  private final Destination destination;
  private final Tenant tenant;
  private final ObjectHandle handle;
  private final Gate gate;
  private final GetRequest request;
  private final boolean isPrefetch;
  private final boolean isFirst;
  private final long patienceNanos;
  private final long readerPatienceNanos;
  private final long startedNanos = System.nanoTime();
  private final Fence fence = new Fence();
  private volatile long lastByteNanos = startedNanos;
  private volatile ObjectClient.@Nullable Exchange exchange;

  // Written inside the fence.
  private @Nullable ByteRange body;
  private long received;

  /** Whether all bytes that it asked for have landed, or as many of them as there are. */
  private volatile boolean complete;

  /**
   * Counts as sent from here on.
   *
   * @param asked which bytes, the first of what is missing
   * @param purpose of the run
   * @param number which attempt of the run in a row without a new block, from 1; later ones are
   *     more patient
   */
  Attempt(
      Outcome outcome,
      Destination destination,
      Tenant tenant,
      ObjectHandle handle,
      Gate gate,
      ByteRange asked,
      Purpose purpose,
      int number) {
    this.isPrefetch = purpose == Purpose.GUESS;
    this.isFirst = number == 1;
    this.outcome = outcome;
    this.destination = destination;
    this.tenant = tenant;
    this.handle = handle;
    this.gate = gate;
    this.request =
        new GetRequest(
            handle.version().object(),
            asked,
            handle.etag(),
            handle.version().versionId(),
            destination.isLent(),
            handle.headers(),
            handle.context());
    long stall =
        tenant.config().stallTimeout().toNanos() << Math.min(number - 1, MAX_PATIENCE_DOUBLINGS);
    // A lent response arrives whole, so its silence says nothing until a slow link had its time.
    this.patienceNanos =
        request.lend() ? stall + request.range().length() * NANOS_PER_SLOW_BYTE : stall;
    long slow = tenant.times().quantileNanos(asked.length(), SLOW_SHARE, patienceNanos);
    this.readerPatienceNanos =
        Math.min(
            patienceNanos,
            Math.max(LEAST_PATIENCE_NANOS, SLOW_FACTOR * slow)
                << Math.min(number - 1, MAX_PATIENCE_DOUBLINGS));
    if (gate.sent()) {
      tenant.metrics().count(Counter.GATE_PROBES);
    }
  }

  void begin() {
    tenant.metrics().count(Counter.GETS);
    if (isPrefetch) {
      tenant.metrics().count(Counter.PREFETCH_GETS);
    }
    handle.listener().onGetStarted(request.range().start(), request.range().length(), isPrefetch);
    ObjectClient.Exchange started;
    try {
      started = tenant.client().get(request, this);
    } catch (RuntimeException e) {
      onFailure(
          new RequestFailure(RequestFailure.Kind.OTHER, subject(), "client refused: " + e, e));
      return;
    }
    exchange = started;
    if (fence.isClosed()) {
      started.cancel();
    }
  }

  /** How long its client may be silent: not as long if a reader waits. */
  long patienceNanos(boolean isAwaited) {
    return isAwaited ? readerPatienceNanos : patienceNanos;
  }

  /** How long its client has been silent. */
  long silentNanos(long now) {
    return now - lastByteNanos;
  }

  /** Whether it has taken longer than GETs of its length do as a rule. */
  boolean isLate(long now) {
    long usual =
        tenant.times().quantileNanos(request.range().length(), LATE_SHARE, UNKNOWN_LATE_NANOS);
    return now - startedNanos > Math.max(LEAST_LATE_NANOS, LATE_FACTOR * usual);
  }

  /** Whether none before it has failed since the run last got on. */
  boolean isFirst() {
    return isFirst;
  }

  /** The bytes that it asks for. */
  ByteRange range() {
    return request.range();
  }

  /** Ends an attempt that never began. */
  void withdraw(Runnable then) {
    fence.close(
        () -> {
          gate.ended(Gate.Outcome.CANCELLED);
          then.run();
        });
  }

  /** Ends the attempt from outside and tells the client. */
  void cancel(IOException why) {
    boolean unused =
        closeAndCancel(
            () -> {
              gate.ended(Gate.Outcome.CANCELLED);
              report(why);
              outcome.attemptCancelled(why);
            });
  }

  /** Ends the attempt because of its client's silence. */
  void giveUp(RequestFailure silence) {
    boolean unused =
        closeAndCancel(
            () -> {
              tookSoFar();
              endedBy(silence);
            });
  }

  /**
   * Ends the attempt because its bytes have come by another one.
   *
   * @param then follows once no call of the client can touch the memory any more
   * @return false if it has ended already
   */
  boolean overtaken(Runnable then) {
    return closeAndCancel(
        () -> {
          tookSoFar();
          gate.ended(Gate.Outcome.CANCELLED);
          report(
              new RequestFailure(
                  RequestFailure.Kind.CANCELLED, subject(), "a second GET was quicker", null));
          then.run();
        });
  }

  private boolean closeAndCancel(Runnable then) {
    boolean closed = fence.close(then);
    ObjectClient.Exchange started = exchange;
    if (closed && started != null) {
      started.cancel();
    }
    return closed;
  }

  /** Late ones count as well: else a link that has become slow would never be known as that. */
  private void tookSoFar() {
    tenant.times().took(request.range().length(), System.nanoTime() - startedNanos);
  }

  private void endedBy(RequestFailure failure) {
    switch (failure.kind()) {
      case THROTTLED -> {
        tenant.metrics().count(Counter.THROTTLED);
        tenant.hedges().throttled();
      }
      case NOT_LENT -> tenant.account().carrier().pauseLending();
      default -> {
        // Nothing to remember.
      }
    }
    gate.ended(FaultPolicy.outcome(failure));
    report(failure);
    outcome.attemptFailed(failure);
  }

  /** Counts what the client has sent by itself as a GET of its own. */
  @Override
  public void onResent(RequestFailure failure) {
    gate.ended(FaultPolicy.outcome(failure));
    gate.sent();
    report(failure);
    tenant.metrics().count(Counter.GETS);
    handle.listener().onGetStarted(request.range().start(), request.range().length(), isPrefetch);
  }

  private void report(@Nullable Exception failure) {
    long nanos = System.nanoTime() - startedNanos;
    handle.listener().onGetFinished(request.range().start(), received, nanos, failure);
  }

  @Override
  public void onHead(ResponseHead head) throws IOException {
    enter();
    try {
      ByteRange told = ResponseCheck.check(request, head, handle);
      if (told.end() < request.range().end()) {
        destination.endsAt(told.end());
      }
      tenant.answered(handle);
      body = told;
      lastByteNanos = System.nanoTime();
    } finally {
      fence.exit();
    }
  }

  @Override
  public void onData(ByteBuffer chunk) throws IOException {
    enter();
    try {
      int count = chunk.remaining();
      ByteRange told = requireHead();
      requireExpected(!request.lend() && received + count <= told.length(), count);
      received += count;
      countReceived(count);
      lastByteNanos = System.nanoTime();
      destination.accept(chunk);
      complete = received == told.length();
    } finally {
      fence.exit();
    }
  }

  @Override
  public void onLent(LentBuffer buffer) throws IOException {
    boolean taken = false;
    try {
      enter();
      try {
        int count = buffer.bytes().remaining();
        requireExpected(count == requireHead().length(), count);
        received = count;
        countReceived(count);
        taken = true;
        destination.accept(buffer);
        complete = true;
      } finally {
        fence.exit();
      }
    } finally {
      if (!taken) {
        buffer.close();
      }
    }
  }

  /** Before the bytes land: whoever reads them finds them counted. */
  private void countReceived(int bytes) {
    tenant.metrics().add(Counter.FETCHED_BYTES, bytes);
    handle.listener().onReceived(bytes);
  }

  @Override
  public void onDone() {
    if (!complete) {
      onFailure(broken("body ended after " + received + " bytes"));
      return;
    }
    fence.close(
        () -> {
          tookSoFar();
          gate.ended(Gate.Outcome.ANSWERED);
          report(null);
          outcome.attemptDone();
        });
  }

  @Override
  public void onFailure(RequestFailure failure) {
    if (complete) {
      // Every byte is there and was counted; how the connection ended after them does not matter.
      onDone();
      return;
    }
    // A cancel of ours closes the fence first: this one nobody has asked for, so it counts.
    RequestFailure told =
        failure.kind() == RequestFailure.Kind.CANCELLED
            ? broken("the client gave up unasked: " + failure.reason())
            : failure;
    fence.close(() -> endedBy(told));
  }

  private RequestFailure broken(String reason) {
    return new RequestFailure(
        RequestFailure.Kind.NETWORK, subject(), reason, new SocketException(reason));
  }

  private void enter() throws IOException {
    if (!fence.enter()) {
      throw new IOException(subject() + " was given up");
    }
  }

  private ByteRange requireHead() throws IOException {
    ByteRange told = body;
    if (told == null) {
      throw new IOException(subject() + ": body before head");
    }
    return told;
  }

  private void requireExpected(boolean expected, int count) throws IOException {
    if (!expected) {
      throw new IOException(
          subject() + ": brought " + (received + count) + " bytes, not what it asked for");
    }
  }

  private String subject() {
    return "GET " + request.range() + " of " + request.object();
  }
}
