// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import java.io.IOException;
import java.io.Serializable;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Why a request gave no usable answer, told the same way by every client. The message is one line:
 * the operation and the object, the store's own words with its request ids, and, once the fetch
 * layer has given up, attempts and time. It never holds a secret.
 *
 * <p>A failure in transport has among its causes one of the class that {@code java.net} and {@code
 * javax.net.ssl} have for it, whatever the client's own error was: {@link
 * java.net.ConnectException}, {@link java.net.SocketException}, {@link
 * java.net.UnknownHostException}, {@link java.net.SocketTimeoutException}, {@link
 * javax.net.ssl.SSLException}.
 */
public final class RequestFailure extends IOException {
  private static final long serialVersionUID = 2L;

  private static final Set<String> THROTTLING_CODES =
      Set.of(
          "SlowDown",
          "ServiceUnavailable",
          "Throttling",
          "ThrottlingException",
          "RequestLimitExceeded",
          "RequestThrottled",
          "TooManyRequestsException");

  /** A signature for another region than the bucket's; S3 names the right one. */
  private static final String WRONG_REGION = "AuthorizationHeaderMalformed";

  /** Causes that are treated differently. What follows each is {@code FaultPolicy}'s to say. */
  public enum Kind {
    /** 503, 429, or an error code that says to slow down. */
    THROTTLED,
    /** Other 5xx, and 408. */
    SERVER,
    /** Connection refused, reset, time-out, unknown host, early end of body. */
    NETWORK,
    /** A handshake that failed or a certificate that is not trusted. */
    TLS,
    /** The bucket is somewhere else: 301, 307, or 400 with the region to go to. */
    REDIRECTED,
    /** The same, and the client goes there from now on: the same request can be sent again. */
    MOVED,
    /** 404. */
    NOT_FOUND,
    /** 401 and 403. */
    FORBIDDEN,
    /** There are no credentials to sign with; nothing was sent. */
    CREDENTIALS,
    /** 412: the object is no longer the version that was opened. */
    CHANGED,
    /** 416: the object ends before the range. */
    OUT_OF_RANGE,
    /** The handler refused the response; the cause is its exception. */
    REJECTED,
    /** The answer has no ETag, and this client reads none without; another one may. */
    NO_ETAG,
    /** Cancelled by {@link ObjectClient.Exchange#cancel()} or by closing the client. */
    CANCELLED,
    /** The client lends nothing at present; the same range can be had copied. */
    NOT_LENT,
    /** Anything else, for example 400. */
    OTHER
  }

  /**
   * The attempts made before giving up.
   *
   * @param attempts requests sent; 0 if the store refused all others as long as it would wait
   * @param elapsed from the first request on
   * @param end why it was not tried again
   */
  public record Effort(int attempts, Duration elapsed, End end) implements Serializable {
    /** Why nothing more was tried. */
    public enum End {
      /** Another attempt would not help. */
      FAILURE,
      /** The read had no time left. */
      DEADLINE
    }

    @Override
    public String toString() {
      String time = String.format(Locale.ROOT, " in %.1f s", elapsed.toMillis() / 1000.0);
      String passed = end == End.DEADLINE ? ", then the read's deadline passed" : "";
      return attempts + (attempts == 1 ? " attempt" : " attempts") + time + passed;
    }
  }

  private final Kind kind;
  private final String subject;
  private final String reason;
  private final @Nullable StoreAnswer answer;
  private final @Nullable Effort effort;

  /**
   * A failure that is not the store's word.
   *
   * @param subject operation and object, for example {@code GET s3://bucket/key [0, 10)}
   * @param reason what went wrong with it
   */
  public RequestFailure(Kind kind, String subject, String reason, @Nullable Throwable cause) {
    this(kind, subject, StoreAnswer.cut(reason), null, null, cause);
  }

  private RequestFailure(
      Kind kind,
      String subject,
      String reason,
      @Nullable StoreAnswer answer,
      @Nullable Effort effort,
      @Nullable Throwable cause) {
    super(subject + ": " + reason, cause);
    this.kind = kind;
    this.subject = subject;
    this.reason = reason;
    this.answer = answer;
    this.effort = effort;
  }

  /**
   * The store refused.
   *
   * @param answer with a status of 300 or more
   */
  public static RequestFailure refused(
      String subject, StoreAnswer answer, @Nullable Throwable cause) {
    if (!answer.isRefusal()) {
      throw new IllegalArgumentException("status " + answer.status() + " is no refusal");
    }
    String reason = answer.words() + answer.ids();
    return new RequestFailure(kindOf(answer), subject, reason, answer, null, cause);
  }

  /** The kind of failure that a refusal is. */
  public static Kind kindOf(StoreAnswer refusal) {
    String code = refusal.code();
    int status = refusal.status();
    if (code != null && THROTTLING_CODES.contains(code)) {
      return Kind.THROTTLED;
    }
    return switch (status) {
      case 301, 302, 303, 307, 308 -> Kind.REDIRECTED;
      case 400 -> kindOfBadRequest(refusal);
      case 401, 403 -> Kind.FORBIDDEN;
      case 404 -> Kind.NOT_FOUND;
      case 405, 410, 415 -> Kind.OTHER;
      case 412 -> Kind.CHANGED;
      case 416 -> Kind.OUT_OF_RANGE;
      case 429, 503 -> Kind.THROTTLED;
      // Of a proxy too, as 444 and 499 are; S3A sends again what it has no word for.
      default -> status >= 400 ? Kind.SERVER : Kind.OTHER;
    };
  }

  private static Kind kindOfBadRequest(StoreAnswer refusal) {
    String code = refusal.code();
    if ("RequestTimeout".equals(code)) {
      return Kind.SERVER;
    }
    boolean mayBeRegion = code == null || code.equals(WRONG_REGION);
    return mayBeRegion && refusal.region() != null ? Kind.REDIRECTED : Kind.OTHER;
  }

  /**
   * The connection broke, or what came is no answer. No EOFException: to an application that would
   * look like the end of the file.
   */
  public static RequestFailure broken(String subject, String reason) {
    return new RequestFailure(Kind.NETWORK, subject, reason, new SocketException(reason));
  }

  /** What was awaited did not come in time. */
  public static RequestFailure timedOut(String subject, String reason) {
    return new RequestFailure(Kind.NETWORK, subject, reason, new SocketTimeoutException(reason));
  }

  /** Nobody wants the answer any more. */
  public static RequestFailure cancelled(String subject) {
    return new RequestFailure(Kind.CANCELLED, subject, "cancelled", null);
  }

  /** The client is closed, and sends nothing. */
  public static RequestFailure closed(String subject) {
    return new RequestFailure(Kind.CANCELLED, subject, "the client is closed", null);
  }

  /** A request for lent memory came to a client that has none to lend. */
  public static RequestFailure notLent(String subject) {
    return new RequestFailure(Kind.NOT_LENT, subject, "this client lends nothing", null);
  }

  /** This refusal, once its client goes to where the bucket is. */
  public RequestFailure moved() {
    return new RequestFailure(Kind.MOVED, subject, reason, answer, effort, getCause());
  }

  /** This failure of an answer that had begun well: its ids are what support asks for. */
  public RequestFailure after(StoreAnswer begun) {
    return new RequestFailure(kind, subject, reason + begun.ids(), begun, effort, getCause());
  }

  /** This failure as what kept another request from being sent. */
  public RequestFailure unsent(String other) {
    String last = "not sent, since the store refused all: " + reason;
    return new RequestFailure(kind, other, last, answer, effort, getCause());
  }

  /** This failure as the last one of several attempts. */
  public RequestFailure with(Effort tried) {
    RequestFailure told = new RequestFailure(kind, subject, reason, answer, tried, getCause());
    for (Throwable each : getSuppressed()) {
      told.addSuppressed(each);
    }
    return told;
  }

  public Kind kind() {
    return kind;
  }

  /** Operation and object. */
  public String subject() {
    return subject;
  }

  /** The reason, without subject and effort. */
  public String reason() {
    return reason;
  }

  /** The store's answer, be it the head of one that broke off; null if nothing came. */
  public @Nullable StoreAnswer answer() {
    return answer;
  }

  /** The store's answer if it refused; null otherwise. */
  public @Nullable StoreAnswer refusal() {
    return answer != null && answer.isRefusal() ? answer : null;
  }

  /** The attempts made before giving up; null in a failure of one request. */
  public @Nullable Effort effort() {
    return effort;
  }

  @Override
  public String getMessage() {
    return super.getMessage() + (effort == null ? "" : "; " + effort);
  }
}
