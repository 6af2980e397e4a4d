// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.crt;

import io.s3e.client.RequestFailure.Kind;
import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;

/**
 * The CRT's errors that are not the store's word, by their names: the kind of failure that each is,
 * and the exception that Java's own network classes have for it. This enum is the one table of such
 * errors. None is an {@link java.io.EOFException}, which an application would take for the end of
 * the file.
 */
enum CrtErrors {
  /** No connection came about: it was refused, or nobody has answered to it. */
  UNCONNECTED(Kind.NETWORK),
  UNREACHABLE(Kind.NETWORK),
  UNKNOWN_HOST(Kind.NETWORK),
  TIMED_OUT(Kind.NETWORK),
  /** The connection broke: reset, ended in the middle of an answer, or by one that is no HTTP. */
  BROKEN(Kind.NETWORK),
  HANDSHAKE(Kind.TLS),
  TLS(Kind.TLS),
  THROTTLED(Kind.THROTTLED),
  SERVER(Kind.SERVER),
  /** A response that the CRT itself could not make sense of, for example 200 for 206. */
  REJECTED(Kind.REJECTED),
  /** The CRT reads no answer without an ETag, unless the request named one. */
  NO_ETAG(Kind.NO_ETAG),
  CREDENTIALS(Kind.CREDENTIALS),
  /** The JVM has refused direct memory to a pool. */
  NO_BUFFER(Kind.NOT_LENT),
  OTHER(Kind.OTHER);

  final Kind kind;

  CrtErrors(Kind kind) {
    this.kind = kind;
  }

  /** Java's exception for it; null if it is none of the network. */
  @Nullable IOException asJava(String message) {
    return switch (this) {
      case UNCONNECTED -> new ConnectException(message);
      case UNREACHABLE -> new NoRouteToHostException(message);
      case UNKNOWN_HOST -> new UnknownHostException(message);
      case TIMED_OUT -> new SocketTimeoutException(message);
      case BROKEN -> new SocketException(message);
      case HANDSHAKE -> new SSLHandshakeException(message);
      case TLS -> new SSLException(message);
      case THROTTLED, SERVER, REJECTED, NO_ETAG, CREDENTIALS, NO_BUFFER, OTHER -> null;
    };
  }

  static CrtErrors of(String name) {
    return switch (name) {
      case "AWS_IO_SOCKET_CONNECTION_REFUSED",
          "AWS_IO_SOCKET_CONNECT_ABORTED",
          "AWS_IO_SOCKET_TIMEOUT" ->
          UNCONNECTED;
      case "AWS_IO_SOCKET_NO_ROUTE_TO_HOST", "AWS_IO_SOCKET_NETWORK_DOWN" -> UNREACHABLE;
      case "AWS_ERROR_HTTP_RESPONSE_FIRST_BYTE_TIMEOUT",
          "AWS_ERROR_HTTP_CHANNEL_THROUGHPUT_FAILURE",
          "AWS_ERROR_HTTP_CONNECTION_MANAGER_ACQUISITION_TIMEOUT",
          "AWS_IO_TLS_NEGOTIATION_TIMEOUT" ->
          TIMED_OUT;
      case "AWS_IO_TLS_ERROR_READ_FAILURE",
          "AWS_IO_TLS_ERROR_WRITE_FAILURE",
          "AWS_IO_TLS_CLOSED_ABORT",
          "AWS_IO_TLS_CLOSED_GRACEFUL",
          "AWS_ERROR_MAX_FDS_EXCEEDED",
          // The connection was chosen in the moment in which its last answer spoilt it.
          "AWS_ERROR_INVALID_STATE" ->
          BROKEN;
      case "AWS_IO_TLS_ALERT_NOT_GRACEFUL", "AWS_IO_TLS_INTERNAL_ERROR" -> TLS;
      case "AWS_ERROR_S3_BUFFER_ALLOCATION_FAILED" -> NO_BUFFER;
      case "AWS_ERROR_S3_MISSING_ETAG" -> NO_ETAG;
      case "AWS_ERROR_S3_SLOW_DOWN" -> THROTTLED;
      case "AWS_ERROR_S3_INTERNAL_ERROR", "AWS_ERROR_S3_REQUEST_TIMEOUT" -> SERVER;
      case "AWS_ERROR_S3_MISSING_CONTENT_RANGE_HEADER",
          "AWS_ERROR_S3_INVALID_CONTENT_RANGE_HEADER",
          "AWS_ERROR_S3_MISSING_CONTENT_LENGTH_HEADER",
          "AWS_ERROR_S3_INVALID_CONTENT_LENGTH_HEADER",
          "AWS_ERROR_S3_INTERNAL_PART_SIZE_MISMATCH_RETRYING_WITH_RANGE",
          "AWS_ERROR_S3_INTERNAL_BUFFER_SIZE_MISMATCH_RETRYING_WITH_RANGE",
          "AWS_ERROR_SHORT_BUFFER",
          "AWS_ERROR_DEST_COPY_TOO_SMALL" ->
          REJECTED;
      default -> byFamily(name);
    };
  }

  /**
   * S3's error code that the CRT has made this error of; null if that is not certain: it makes two
   * of them of a status alone, too.
   */
  static @Nullable String storeCode(String name, int status) {
    return switch (name) {
      case "AWS_ERROR_S3_REQUEST_TIMEOUT" -> "RequestTimeout";
      case "AWS_ERROR_S3_REQUEST_TIME_TOO_SKEWED" -> "RequestTimeTooSkewed";
      case "AWS_ERROR_S3_SLOW_DOWN" -> status == 503 || status == 429 ? null : "SlowDown";
      case "AWS_ERROR_S3_INTERNAL_ERROR" ->
          status == 500 || status == 502 || status == 504 ? null : "InternalError";
      default -> null;
    };
  }

  private static CrtErrors byFamily(String name) {
    if (name.startsWith("AWS_IO_DNS_")) {
      return UNKNOWN_HOST;
    }
    if (name.startsWith("AWS_IO_TLS_")) {
      return HANDSHAKE;
    }
    if (name.startsWith("AWS_AUTH_CREDENTIALS_")
        || name.equals("AWS_AUTH_SIGNING_NO_CREDENTIALS")) {
      return CREDENTIALS;
    }
    return name.matches("AWS_(IO|ERROR_(HTTP|S3|SYS|IO))_.*") ? BROKEN : OTHER;
  }
}
