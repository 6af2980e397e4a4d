// SPDX-License-Identifier: Apache-2.0
package io.s3e.fault;

import io.s3e.client.Remedy;
import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.client.StoreAnswer;
import java.net.BindException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Says what follows a failed request: the same for GETs and HEADs of all readers. Pure: no clock,
 * no chance, no I/O.
 *
 * <p>A failure that may pass is never counted out: the reader that waits has a deadline, and that
 * ends it (docs/adr/0017-patience-in-time.md). An answer that is refused for its form is: the same
 * one eight times in a row is how the store answers. The first retry goes at once. Further ones
 * wait {@code base}, doubled with each, half of it by chance, and no longer than {@code cap}.
 *
 * @param base pause before the third request
 * @param cap longest pause
 */
public record FaultPolicy(Duration base, Duration cap) {
  /** S3 asks to slow down for a reason: wait longer than after a lost connection. */
  private static final int THROTTLED_FACTOR = 5;

  /** The longest pause by default, in first ones: 10 s after 100 ms. */
  private static final int LONGEST_PAUSE = 100;

  /** Even a policy without pauses must not spin. */
  private static final long SHORTEST_PAUSE_NANOS = 1_000_000;

  private static final int MAX_DOUBLINGS = 20;

  /** A handshake may break by accident once; trust does not come by asking again. */
  private static final int SENDS_WITHOUT_TRUST = 2;

  /** A provider that has never had credentials is wrong as a rule, and not just slow. */
  private static final int SENDS_WITHOUT_CREDENTIALS = 3;

  /** Some seconds, in which a proxy that restarts has come back. */
  private static final int SENDS_FOR_A_FORM = 8;

  private static final int BAD_REQUEST = 400;
  private static final int REQUEST_TIMEOUT = 408;

  /** Statuses from here on are about the store, those below about the request. */
  private static final int LEAST_OF_STORE = 500;

  private static final int NOT_IMPLEMENTED = 501;
  private static final int VERSION_NOT_SUPPORTED = 505;

  private static final Set<String> STALE_CREDENTIALS =
      Set.of(
          "ExpiredToken",
          "ExpiredTokenException",
          "InvalidAccessKeyId",
          "InvalidToken",
          "TokenRefreshRequired");

  /**
   * Statuses that credentials or their time may be the reason of where no code says so: the refusal
   * of a HEAD has no document.
   */
  private static final Set<Integer> UNSAID = Set.of(400, 401, 403);

  private static final Set<String> WRONG_CLOCK = Set.of("RequestTimeTooSkewed", "RequestExpired");

  /**
   * A request for the same bytes is sent again, after {@code remedy} and {@code pauseNanos} ns.
   *
   * @param isHalf whether for half as much: the answer broke off or did not come, and a shorter one
   *     may get through
   */
  public record SendAgain(long pauseNanos, boolean isHalf, Remedy remedy) {}

  /** The policy whose pauses grow to a hundred times {@code base}. */
  public static FaultPolicy from(Duration base) {
    return new FaultPolicy(base, base.multipliedBy(LONGEST_PAUSE));
  }

  /**
   * What follows {@code failure}, the latest of {@code history}; null if no request would bring the
   * bytes, and the failure is the reader's error. {@code jitter} is from 0 to 1.
   */
  public @Nullable SendAgain after(RequestFailure failure, History history, double jitter) {
    return switch (failure.kind()) {
      // A cancel that was asked for is no failure. One that was not is a lost connection.
      case THROTTLED, NETWORK, CANCELLED -> again(failure, history, jitter);
      case SERVER -> isPermanent(failure) ? null : again(failure, history, jitter);
      case REJECTED ->
          history.rejections() >= SENDS_FOR_A_FORM ? null : again(failure, history, jitter);
      case TLS -> isHopeless(history, SENDS_WITHOUT_TRUST) ? null : again(failure, history, jitter);
      case CREDENTIALS ->
          isHopeless(history, SENDS_WITHOUT_CREDENTIALS) ? null : again(failure, history, jitter);
      case FORBIDDEN, OTHER -> afterRemedy(failure, history);
      // A client moves a bucket once, so that no store sends it around.
      case MOVED -> new SendAgain(0, false, Remedy.NONE);
      case REDIRECTED, NOT_FOUND, CHANGED, OUT_OF_RANGE, NO_ETAG, NOT_LENT -> null;
    };
  }

  /** How a request that failed has ended, as the gate counts it. */
  public static Gate.Outcome outcome(RequestFailure failure) {
    return switch (failure.kind()) {
      case THROTTLED -> Gate.Outcome.THROTTLED;
      case NETWORK -> isSilence(failure) ? Gate.Outcome.CANCELLED : Gate.Outcome.UNAVAILABLE;
      case SERVER -> isOfRequest(failure) ? Gate.Outcome.ANSWERED : Gate.Outcome.UNAVAILABLE;
      case TLS -> Gate.Outcome.UNAVAILABLE;
      case CANCELLED, CREDENTIALS, NOT_LENT -> Gate.Outcome.CANCELLED;
      case MOVED -> Gate.Outcome.MOVED;
      case REDIRECTED, NOT_FOUND, FORBIDDEN, CHANGED, OUT_OF_RANGE, NO_ETAG, REJECTED ->
          Gate.Outcome.ANSWERED;
      case OTHER -> failure.answer() == null ? Gate.Outcome.CANCELLED : Gate.Outcome.ANSWERED;
    };
  }

  /** Whether a store that answers others refuses this request, for now. */
  private static boolean isOfRequest(RequestFailure failure) {
    StoreAnswer answer = failure.answer();
    return answer != null
        && answer.status() < LEAST_OF_STORE
        && answer.status() != BAD_REQUEST
        && answer.status() != REQUEST_TIMEOUT;
  }

  private static boolean isPermanent(RequestFailure failure) {
    StoreAnswer answer = failure.answer();
    return answer != null
        && (answer.status() == NOT_IMPLEMENTED || answer.status() == VERSION_NOT_SUPPORTED);
  }

  private static boolean isHopeless(History history, int sends) {
    return !history.hasAnswered() && history.failures() >= sends;
  }

  private static @Nullable SendAgain afterRemedy(RequestFailure failure, History history) {
    Remedy remedy = remedyFor(failure.answer());
    return remedy == Remedy.NONE || history.tried().contains(remedy)
        ? null
        : new SendAgain(0, false, remedy);
  }

  private static Remedy remedyFor(@Nullable StoreAnswer answer) {
    if (answer == null) {
      return Remedy.NONE;
    }
    String code = answer.code();
    if (code == null) {
      return UNSAID.contains(answer.status()) ? Remedy.CREDENTIALS : Remedy.NONE;
    }
    if (STALE_CREDENTIALS.contains(code)) {
      return Remedy.CREDENTIALS;
    }
    return WRONG_CLOCK.contains(code) ? Remedy.CLOCK : Remedy.NONE;
  }

  private SendAgain again(RequestFailure failure, History history, double jitter) {
    Remedy remedy = failure.kind() == Kind.CREDENTIALS ? Remedy.CREDENTIALS : Remedy.NONE;
    long pause = pauseNanos(failure.kind(), history, jitter);
    return new SendAgain(pause, isCut(failure), remedy);
  }

  private long pauseNanos(Kind kind, History history, double jitter) {
    if (history.failures() <= 1) {
      return 0;
    }
    long first = base.toNanos() * (kind == Kind.THROTTLED ? THROTTLED_FACTOR : 1);
    int doublings = Math.min(history.failures() - 2, MAX_DOUBLINGS);
    long most = cap.toNanos();
    long pause = first > most >> doublings ? most : first << doublings;
    return Math.max(SHORTEST_PAUSE_NANOS, pause / 2 + (long) (jitter * (pause - pause / 2)));
  }

  /** Silence is paid for by a time-out, and an object that hangs is no store that does. */
  private static boolean isSilence(RequestFailure failure) {
    return failure.getCause() instanceof SocketTimeoutException;
  }

  /** Whether an answer broke off, or was awaited in vain: not that there was no connection. */
  private static boolean isCut(RequestFailure failure) {
    boolean isCut = failure.kind() == Kind.NETWORK && failure.getCause() != null;
    for (Throwable cause = failure.getCause(); cause != null && isCut; cause = cause.getCause()) {
      // HTTP clients have exceptions of their own for a body that ends early.
      isCut =
          !(cause instanceof UnknownHostException
              || cause instanceof ConnectException
              || cause instanceof NoRouteToHostException
              || cause instanceof BindException);
    }
    return isCut;
  }
}
