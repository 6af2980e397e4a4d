package io.s3e.client.crt;

import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.client.StoreAnswer;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.crt.CRT;
import software.amazon.awssdk.crt.s3.S3FinishedResponseContext;
import software.amazon.awssdk.crt.s3.S3RequestMetrics;

/** Makes {@link RequestFailure}s of what the CRT says at the end of a request. */
final class CrtFailures {
  private CrtFailures() {}

  /**
   * The first attempt that failed, as the CRT's telemetry has it.
   *
   * @param errorCode the CRT's
   * @param status HTTP status, or not above 0 if there was none
   * @param ids the request ids as headers, as far as the store gave any
   */
  record Attempt(int errorCode, int status, Map<String, String> ids) {
    static Attempt of(S3RequestMetrics metrics) {
      return new Attempt(metrics.getErrorCode(), metrics.getResponseStatus(), idsOf(metrics));
    }

    private static Map<String, String> idsOf(S3RequestMetrics metrics) {
      Map<String, String> ids = new HashMap<>();
      try {
        put(ids, "x-amz-request-id", metrics.getAwsRequestId());
        put(ids, "x-amz-id-2", metrics.getAwsExtendedRequestId());
      } catch (RuntimeException | LinkageError e) {
        // The CRT throws where the answer had none; early versions do not know the second.
        return ids;
      }
      return ids;
    }

    private static void put(Map<String, String> ids, String name, @Nullable String value) {
      if (value != null && !value.isEmpty()) {
        ids.put(name, value);
      }
    }
  }

  /**
   * @param attempt the failed attempt after which this side cancelled the request; null if none did
   * @param wanted whether the engine cancelled
   * @param begun the head of the answer that broke off; null if none had begun
   */
  static RequestFailure of(
      String subject,
      S3FinishedResponseContext context,
      @Nullable Attempt attempt,
      boolean wanted,
      @Nullable StoreAnswer begun) {
    int code = context.getErrorCode();
    boolean cancelled = isCancellation(CRT.awsErrorName(code));
    if (cancelled && wanted) {
      return cancelled(subject);
    }
    if (attempt != null && cancelled) {
      code = attempt.errorCode();
    }
    String name = CRT.awsErrorName(code);
    StoreAnswer answer = answer(context, attempt, CrtErrors.storeCode(name));
    if (answer != null) {
      return RequestFailure.refused(subject, answer, null);
    }
    String reason = name + ", " + CRT.awsErrorString(code);
    CrtErrors error = CrtErrors.of(name);
    RequestFailure failure =
        new RequestFailure(error.kind(), subject, reason, error.asJava(reason));
    return begun == null ? failure : failure.after(begun);
  }

  /**
   * The store's refusal, of the answer at the end or of the attempt before it, whose document the
   * CRT has not kept; null if there is none.
   *
   * @param known the error code that the CRT's own error tells; null if it tells none
   */
  private static @Nullable StoreAnswer answer(
      S3FinishedResponseContext context, @Nullable Attempt attempt, @Nullable String known) {
    byte[] payload = context.getErrorPayload();
    String body = payload == null ? "" : new String(payload, StandardCharsets.UTF_8);
    Map<String, String> headers = CrtHeaders.asMap(context.getErrorHeaders());
    int status = context.getResponseStatus();
    if (status <= 0 && attempt != null) {
      status = attempt.status();
      headers.putAll(attempt.ids());
    }
    if (status < 300) {
      return null;
    }
    return body.isEmpty()
        ? new StoreAnswer(status, known, null, headers, null)
        : StoreAnswer.of(status, headers, body);
  }

  /** A success without headers, which the CRT does not promise to rule out. */
  static RequestFailure noHead(String subject) {
    String reason = "ended without a response";
    return new RequestFailure(Kind.NETWORK, subject, reason, new SocketException(reason));
  }

  static RequestFailure unexpected(String subject, Throwable cause) {
    return new RequestFailure(Kind.OTHER, subject, cause.toString(), cause);
  }

  static RequestFailure noCredentials(String subject, Throwable cause) {
    return new RequestFailure(Kind.CREDENTIALS, subject, "no credentials: " + cause, cause);
  }

  static RequestFailure closed(String subject) {
    return new RequestFailure(Kind.CANCELLED, subject, "the client is closed", null);
  }

  /** Never retried: the CRT would not tell how the request ends. */
  static RequestFailure jvmEnds(String subject) {
    return new RequestFailure(
        Kind.OTHER, subject, "the JVM is ending, and the CRT has ended", null);
  }

  static RequestFailure cancelled(String subject) {
    return new RequestFailure(Kind.CANCELLED, subject, "cancelled", null);
  }

  private static boolean isCancellation(String name) {
    return name.equals("AWS_ERROR_S3_CANCELED")
        || name.equals("AWS_ERROR_S3_PAUSED")
        || name.equals("AWS_ERROR_S3_CLIENT_SHUTDOWN")
        || name.equals("AWS_ERROR_HTTP_STREAM_CANCELLED");
  }
}
