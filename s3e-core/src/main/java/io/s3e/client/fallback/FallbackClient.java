// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.fallback;

import io.s3e.block.ByteRange;
import io.s3e.client.ClientLimits;
import io.s3e.client.ClientMemory;
import io.s3e.client.ClientProvider;
import io.s3e.client.ForwardingClient;
import io.s3e.client.GetRequest;
import io.s3e.client.HeadRequest;
import io.s3e.client.ObjectClient;
import io.s3e.client.ObjectHead;
import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.client.ResponseHandler;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;

/**
 * Reads by a fast client, and by a substitute where the fast one cannot reach the store although
 * the substitute can: another proxy, another trust store, a library that does not link; or where
 * the store answers without an ETag, which the fast one does not read:
 * docs/adr/0012-the-way-back.md says why it is decided so.
 *
 * <h2>States</h2>
 *
 * <pre>
 *            the fast client answers once
 *   TRYING ------------------------------------------&gt; FAST
 *     |  ^                                               |  ^
 *     |  | the fast client answers a retrial             |  | the fast client answers a GET
 *     v  |                      an answer has no ETag    v  | that it still had
 *   SUBSTITUTE &lt;--------------------------------------------+
 * </pre>
 *
 * <ul>
 *   <li>TRYING: a request that fails in transport before its answer began is sent again at once.
 *       When {@value #FAILURES_TO_DOUBT} have failed in a row, or one stays silent for {@link
 *       #PATIENCE}, the substitute reads the same range. It does, and the fast client fails once
 *       more: SUBSTITUTE. It fails too: its failure is the request's, and TRYING goes on.
 *   <li>FAST: failures in transport are the fetch layer's to repeat.
 *   <li>SUBSTITUTE: copied requests go to the substitute, and lent ones fail with {@link
 *       Kind#NOT_LENT}. After each pause of {@link #RETRY_AFTER} the next GET is also sent by the
 *       fast client, as a retrial that nobody waits for.
 * </ul>
 *
 * A GET that fails with {@link Kind#NO_ETAG}, or by a library that does not link, in whatever
 * state, goes on by the substitute, and so do all that follow: SUBSTITUTE. The handler hears
 * nothing of what is sent again. A GET that the fast client still had proves nothing then.
 *
 * <p>The client and {@link FastGet} know each other: each answer of one GET moves the state that
 * all share, and what the GET does next depends on the state after that.
 *
 * <p>Any thread. Moves exclude each other; a request that reads the state just before a move goes
 * by the client of before.
 */
public final class FallbackClient implements ForwardingClient {
  /**
   * Three in a row, and one more after the substitute has read: with one connection in ten failing
   * by chance, one start in ten thousand is misled, for the time of one pause.
   */
  public static final int FAILURES_TO_DOUBT = 3;

  /** A firewall costs next to nothing, and a repair is found soon. */
  public static final Duration RETRY_AFTER = Duration.ofMinutes(5);

  /** A connection, a handshake and the first byte take less than a second where all is well. */
  public static final Duration PATIENCE = Duration.ofSeconds(5);

  /** 4 µs a byte, 256 KiB/s: some clients show a head only when the body is there. */
  public static final long NANOS_PER_SLOW_BYTE = 4_000;

  /** Hears of changes of the client, on the thread that made the change; must not block. */
  public interface Listener {
    /** The substitute reads for good: there is no fast client. */
    void onUnmade(Throwable cause);

    /** The substitute reads from now on, after that failure of the fast client. */
    void onSubstituted(RequestFailure cause);

    /** The fast client is preferred again. */
    void onReturned();
  }

  enum State {
    TRYING,
    FAST,
    SUBSTITUTE
  }

  private final ObjectClient fast;
  private final ObjectClient substitute;
  private final long retryAfterNanos;
  private final long patienceNanos;
  private final Listener listener;
  private final AtomicInteger failuresInRow = new AtomicInteger();
  private final AtomicBoolean retrying = new AtomicBoolean();

  /** Moved with this object's monitor; read without. */
  private volatile State state = State.TRYING;

  /** By {@link System#nanoTime()}; read and written in state SUBSTITUTE. */
  private volatile long retrialNanos;

  /** Whether the fast client was left for answers that it does not read. Guarded by this. */
  private boolean isLeftUnread;

  /**
   * The fast client with its substitute, or that alone where the fast one cannot be made.
   *
   * @param substitute makes one that copies, for so many requests: the engine sends what the fast
   *     client can carry
   */
  public static ObjectClient open(
      ClientProvider fast,
      IntFunction<ObjectClient> substitute,
      ClientMemory memory,
      Listener listener) {
    ObjectClient made;
    try {
      made = fast.create(memory);
    } catch (RuntimeException | LinkageError e) {
      listener.onUnmade(e);
      return substitute.apply(0);
    }
    ClientLimits limits = made.limits();
    try {
      ObjectClient second = substitute.apply(limits.copyRequests() + limits.lentSlots());
      return new FallbackClient(made, second, RETRY_AFTER, PATIENCE, listener);
    } catch (RuntimeException | Error e) {
      made.close();
      throw e;
    }
  }

  FallbackClient(
      ObjectClient fast,
      ObjectClient substitute,
      Duration retryAfter,
      Duration patience,
      Listener listener) {
    this.fast = fast;
    this.patienceNanos = patience.toNanos();
    this.substitute = substitute;
    this.retryAfterNanos = retryAfter.toNanos();
    this.listener = listener;
  }

  /** The client that reads now: it has the name and the credentials, and brings remedies about. */
  @Override
  public ObjectClient client() {
    return state == State.SUBSTITUTE ? substitute : fast;
  }

  @Override
  public ClientLimits limits() {
    return fast.limits();
  }

  @Override
  public ObjectHead head(HeadRequest request) throws IOException {
    if (state == State.SUBSTITUTE) {
      return substitute.head(request);
    }
    try {
      ObjectHead head = fast.head(request);
      answered();
      return head;
    } catch (RequestFailure e) {
      if (isLinkage(e)) {
        substitute(e);
      } else if (!isTransport(e) || state == State.FAST) {
        throw e;
      } else {
        failed();
      }
      return substitute.head(request);
    }
  }

  @Override
  public Exchange get(GetRequest request, ResponseHandler handler) {
    State now = state;
    if (now != State.SUBSTITUTE) {
      return new FastGet(this, request, handler, now == State.TRYING).begin();
    }
    retryIfDue(request, handler);
    return bySubstitute(request, handler);
  }

  @Override
  public void close() {
    try {
      fast.close();
    } finally {
      substitute.close();
    }
  }

  State state() {
    return state;
  }

  /** How long an answer may take to begin, in ns. */
  long patienceNanos(GetRequest request) {
    return patienceNanos + request.range().length() * NANOS_PER_SLOW_BYTE;
  }

  Exchange byFast(GetRequest request, ResponseHandler handler) {
    return send(fast, request, handler);
  }

  /** A client that throws has failed: later sends run on threads where nobody would hear of it. */
  private static Exchange send(ObjectClient client, GetRequest request, ResponseHandler handler) {
    try {
      return client.get(request, handler);
    } catch (RuntimeException | Error e) {
      handler.onFailure(
          new RequestFailure(Kind.OTHER, request.subject(), "client refused: " + e, e));
      return () -> {};
    }
  }

  /** Lent memory is the fast client's alone. */
  Exchange bySubstitute(GetRequest request, ResponseHandler handler) {
    if (!request.lend()) {
      return send(substitute, request, handler);
    }
    handler.onFailure(RequestFailure.notLent(request.subject()));
    return () -> {};
  }

  /** A small copied GET by the substitute, to see whether it reaches the store. */
  Exchange probe(GetRequest request, ResponseHandler handler) {
    return send(substitute, copied(request), handler);
  }

  /** The fast client has reached the store, which it may have left for what it cannot read. */
  void answered() {
    if (state != State.FAST) {
      prefer(State.FAST);
    }
  }

  /** The fast client has not reached the store; whether it is time to ask the substitute. */
  boolean failed() {
    return failuresInRow.incrementAndGet() >= FAILURES_TO_DOUBT;
  }

  /** The substitute reads from now on, unless others have seen to that, or to the contrary. */
  void substitute(RequestFailure cause) {
    synchronized (this) {
      if (state == State.FAST && !isUnreadable(cause)) {
        return;
      }
      isLeftUnread |= isUnreadable(cause);
      if (state == State.SUBSTITUTE) {
        return;
      }
      retrialNanos = System.nanoTime() + retryAfterNanos;
      state = State.SUBSTITUTE;
    }
    listener.onSubstituted(cause);
  }

  /** The fast client reads from now on, in this state, unless it is FAST. */
  private void prefer(State next) {
    failuresInRow.set(0);
    boolean isBack;
    synchronized (this) {
      // One that it still had proves nothing where it was left for what it does not read.
      boolean isProof = next == State.TRYING || !isLeftUnread;
      isBack = state == State.SUBSTITUTE && isProof;
      if (isBack || state == State.TRYING) {
        state = next;
        isLeftUnread = false;
      }
    }
    if (isBack) {
      listener.onReturned();
    }
  }

  private void retryIfDue(GetRequest request, ResponseHandler handler) {
    if (System.nanoTime() - retrialNanos < 0 || !retrying.compareAndSet(false, true)) {
      return;
    }
    send(
        fast,
        copied(request),
        new Probe(
            handler::onSent,
            failure -> {
              if (failure == null) {
                prefer(State.TRYING);
              }
              retrialNanos = System.nanoTime() + retryAfterNanos;
              retrying.set(false);
            }));
  }

  private GetRequest copied(GetRequest request) {
    long bytes = Math.min(fast.limits().copyRequestBytes(), request.range().length());
    return new GetRequest(
        request.object(),
        ByteRange.ofLength(request.range().start(), bytes),
        request.etag(),
        request.versionId(),
        false,
        request.headers(),
        request.context());
  }

  /** Whether no answer of the store has come. */
  static boolean isTransport(RequestFailure failure) {
    return failure.answer() == null
        && (failure.kind() == Kind.NETWORK || failure.kind() == Kind.TLS);
  }

  /** Whether the fast client does not read what the store answers, however well it is reached. */
  static boolean isUnreadable(RequestFailure failure) {
    return failure.kind() == Kind.NO_ETAG || isLinkage(failure);
  }

  /** Whether the client lacks classes or methods, on this way or from now on. */
  public static boolean isLinkage(Throwable failure) {
    Throwable cause = failure;
    while (cause != null && !(cause instanceof LinkageError)) {
      cause = cause.getCause();
    }
    return cause != null;
  }
}
