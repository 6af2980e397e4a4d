package io.s3e.client;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Why a request gave no usable answer, told the same way by every client. The message names the
 * operation, the object and the store's own words, never a secret.
 */
public final class RequestFailure extends IOException {
  private static final long serialVersionUID = 1L;

  /** Causes that the fetch layer treats differently. */
  public enum Kind {
    /** 503, 429, or an error code that says to slow down. Retried after a longer pause. */
    THROTTLED,
    /** Other 5xx, and 408. Retried. */
    SERVER,
    /** Connection refused, reset, time-out, early end of body, TLS trouble. Retried. */
    NETWORK,
    /** 404. */
    NOT_FOUND,
    /** 401 and 403. */
    FORBIDDEN,
    /** 412: the object is no longer the version that was opened. */
    CHANGED,
    /** 416: the object ends before the range. */
    OUT_OF_RANGE,
    /** The handler refused the response; the cause is its exception. Retried. */
    REJECTED,
    /** Cancelled by {@link ObjectClient.Exchange#cancel()} or by closing the client. */
    CANCELLED,
    /**
     * The client lends nothing at present; the same range can be had copied. Not retried as it is.
     */
    NOT_LENT,
    /** Anything else, for example 400 or missing credentials. Not retried. */
    OTHER
  }

  private final Kind kind;
  private final int status;

  /**
   * @param status HTTP status, or 0 if there was none
   */
  public RequestFailure(Kind kind, int status, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.kind = kind;
    this.status = status;
  }

  /** The kind that an HTTP status stands for, by the table of {@link Kind}. */
  public static Kind kindOf(int status) {
    return switch (status) {
      case 401, 403 -> Kind.FORBIDDEN;
      case 404 -> Kind.NOT_FOUND;
      case 408 -> Kind.SERVER;
      case 412 -> Kind.CHANGED;
      case 416 -> Kind.OUT_OF_RANGE;
      case 429, 503 -> Kind.THROTTLED;
      default -> status >= 500 ? Kind.SERVER : Kind.OTHER;
    };
  }

  public Kind kind() {
    return kind;
  }

  /** HTTP status, or 0 if there was none. */
  public int status() {
    return status;
  }

  /** Whether the same request may succeed when sent again. */
  public boolean isRetryable() {
    return switch (kind) {
      case THROTTLED, SERVER, NETWORK, REJECTED -> true;
      case NOT_FOUND, FORBIDDEN, CHANGED, OUT_OF_RANGE, CANCELLED, NOT_LENT, OTHER -> false;
    };
  }
}
