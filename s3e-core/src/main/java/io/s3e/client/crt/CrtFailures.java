package io.s3e.client.crt;

import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Kind;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.crt.CRT;
import software.amazon.awssdk.crt.s3.S3FinishedResponseContext;

/** Translates the CRT's error codes, HTTP statuses and S3's error documents. */
final class CrtFailures {
  private static final Set<String> THROTTLING_CODES =
      Set.of(
          "SlowDown",
          "ServiceUnavailable",
          "Throttling",
          "ThrottlingException",
          "RequestLimitExceeded",
          "RequestThrottled",
          "TooManyRequestsException");

  private CrtFailures() {}

  /**
   * The first attempt that failed, as the CRT's telemetry has it.
   *
   * @param errorCode the CRT's
   * @param status HTTP status, or not above 0 if there was none
   */
  record Attempt(int errorCode, int status) {}

  /**
   * @param attempt the failed attempt after which this side cancelled the request; null if none did
   * @param wanted whether the engine cancelled
   */
  static RequestFailure of(
      String subject,
      S3FinishedResponseContext context,
      @Nullable Attempt attempt,
      boolean wanted) {
    int code = context.getErrorCode();
    int status = context.getResponseStatus();
    boolean cancelled = isCancellation(CRT.awsErrorName(code));
    if (attempt != null) {
      code = cancelled ? attempt.errorCode() : code;
      status = status == 0 ? Math.max(0, attempt.status()) : status;
    }
    String name = CRT.awsErrorName(code);
    byte[] payload = context.getErrorPayload();
    String body = payload == null ? "" : new String(payload, StandardCharsets.UTF_8);
    Kind kind = cancelled && wanted ? Kind.CANCELLED : kind(name, status, body);
    return new RequestFailure(kind, status, message(subject, status, name, code, body), null);
  }

  /** A success without headers, which the CRT does not promise to rule out. */
  static RequestFailure noHead(String subject) {
    return new RequestFailure(Kind.NETWORK, 0, subject + ": ended without a response", null);
  }

  static RequestFailure unexpected(String subject, Throwable cause) {
    return new RequestFailure(Kind.OTHER, 0, subject + ": " + cause, cause);
  }

  static RequestFailure closed(String subject) {
    return new RequestFailure(Kind.CANCELLED, 0, subject + ": the client is closed", null);
  }

  /** Never retried: the CRT would not tell how the request ends. */
  static RequestFailure jvmEnds(String subject) {
    return new RequestFailure(
        Kind.OTHER, 0, subject + ": the JVM is ending, and the CRT has ended", null);
  }

  static RequestFailure cancelled(String subject) {
    return new RequestFailure(Kind.CANCELLED, 0, subject + ": cancelled", null);
  }

  private static boolean isCancellation(String name) {
    return name.equals("AWS_ERROR_S3_CANCELED")
        || name.equals("AWS_ERROR_S3_PAUSED")
        || name.equals("AWS_ERROR_HTTP_STREAM_CANCELLED");
  }

  private static Kind kind(String name, int status, String body) {
    String s3Code = element(body, "Code");
    if (THROTTLING_CODES.contains(s3Code)) {
      return Kind.THROTTLED;
    }
    if (status >= 300) {
      boolean timeout =
          s3Code.equals("RequestTimeout") || name.equals("AWS_ERROR_S3_REQUEST_TIMEOUT");
      return timeout ? Kind.SERVER : RequestFailure.kindOf(status);
    }
    return switch (name) {
      case "AWS_ERROR_S3_SLOW_DOWN" -> Kind.THROTTLED;
      case "AWS_ERROR_S3_INTERNAL_ERROR", "AWS_ERROR_S3_REQUEST_TIMEOUT" -> Kind.SERVER;
      // A response that the CRT itself could not make sense of, for example 200 for 206.
      case "AWS_ERROR_S3_MISSING_CONTENT_RANGE_HEADER",
          "AWS_ERROR_S3_INVALID_CONTENT_RANGE_HEADER",
          "AWS_ERROR_S3_MISSING_CONTENT_LENGTH_HEADER",
          "AWS_ERROR_S3_INVALID_CONTENT_LENGTH_HEADER",
          "AWS_ERROR_S3_MISSING_ETAG",
          "AWS_ERROR_S3_INTERNAL_PART_SIZE_MISMATCH_RETRYING_WITH_RANGE",
          "AWS_ERROR_SHORT_BUFFER",
          "AWS_ERROR_DEST_COPY_TOO_SMALL" ->
          Kind.REJECTED;
      case "AWS_ERROR_S3_CLIENT_SHUTDOWN", "AWS_ERROR_S3_CANCELED" -> Kind.CANCELLED;
      default -> isTransport(name) ? Kind.NETWORK : Kind.OTHER;
    };
  }

  private static boolean isTransport(String name) {
    return name.startsWith("AWS_IO_")
        || name.startsWith("AWS_ERROR_HTTP_")
        || name.startsWith("AWS_ERROR_S3_")
        || name.startsWith("AWS_ERROR_SYS_");
  }

  private static String message(String subject, int status, String name, int code, String body) {
    StringBuilder message = new StringBuilder(subject).append(": ");
    if (status != 0) {
      message.append(status).append(' ');
    }
    String s3Code = element(body, "Code");
    if (!s3Code.isEmpty()) {
      message.append(s3Code).append(", ").append(element(body, "Message"));
    } else {
      message.append(name).append(", ").append(CRT.awsErrorString(code));
    }
    return message.toString();
  }

  /** Text of the first element of that name in S3's flat error document; empty if there is none. */
  private static String element(String xml, String name) {
    int start = xml.indexOf("<" + name + ">");
    if (start < 0) {
      return "";
    }
    int from = start + name.length() + 2;
    int end = xml.indexOf("</" + name + ">", from);
    return end < 0 ? "" : xml.substring(from, end);
  }
}
