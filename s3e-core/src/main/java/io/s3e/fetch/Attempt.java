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
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One GET of a {@link RunFetch}. Checks the head, counts the body, and lets bytes land.
 *
 * <p>Every call of the client that touches memory enters the {@link Fence} first. The attempt ends
 * once, by whoever closes the fence first: the client's terminal call, the deadline, or a cancel.
 * Calls that come later find it closed and change nothing.
 */
final class Attempt implements ResponseHandler {
  /** 4 µs a byte: 256 KiB/s, below which a link is taken for dead at the first attempt. */
  private static final long NANOS_PER_SLOW_BYTE = 4_000;

  private static final int MAX_PATIENCE_DOUBLINGS = 4;

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
  private final Landing landing;
  private final Tenant tenant;
  private final ObjectHandle handle;
  private final Gate gate;
  private final GetRequest request;
  private final boolean isPrefetch;
  private final long patienceNanos;
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
      Landing landing,
      Tenant tenant,
      ObjectHandle handle,
      Gate gate,
      ByteRange asked,
      Purpose purpose,
      int number) {
    this.isPrefetch = purpose == Purpose.GUESS;
    this.outcome = outcome;
    this.landing = landing;
    this.tenant = tenant;
    this.handle = handle;
    this.gate = gate;
    this.request =
        new GetRequest(
            handle.version().object(),
            asked,
            handle.etag(),
            handle.version().versionId(),
            landing.isLent(),
            handle.headers(),
            handle.context());
    long stall =
        tenant.config().stallTimeout().toNanos() << Math.min(number - 1, MAX_PATIENCE_DOUBLINGS);
    // A lent response arrives whole, so its silence says nothing until a slow link had its time.
    this.patienceNanos =
        request.lend() ? stall + request.range().length() * NANOS_PER_SLOW_BYTE : stall;
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

  boolean isLate(long now) {
    return now - lastByteNanos > patienceNanos;
  }

  /** How long its client may be silent. */
  Duration patience() {
    return Duration.ofNanos(patienceNanos);
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
    closeAndCancel(
        () -> {
          gate.ended(Gate.Outcome.CANCELLED);
          report(why);
          outcome.attemptCancelled(why);
        });
  }

  /** Ends the attempt because of its client's silence. */
  void giveUp(RequestFailure silence) {
    closeAndCancel(() -> endedBy(silence));
  }

  private void closeAndCancel(Runnable then) {
    boolean closed = fence.close(then);
    ObjectClient.Exchange started = exchange;
    if (closed && started != null) {
      started.cancel();
    }
  }

  private void endedBy(RequestFailure failure) {
    switch (failure.kind()) {
      case THROTTLED -> tenant.metrics().count(Counter.THROTTLED);
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
        landing.endsAt(told.end());
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
      landing.accept(chunk);
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
        landing.accept(buffer);
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
