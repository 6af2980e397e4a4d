// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.crt;

import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.client.StoreAnswer;
import io.s3e.client.library.CrtLibrary;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.crt.CRT;
import software.amazon.awssdk.crt.s3.S3FinishedResponseContext;
import software.amazon.awssdk.crt.s3.S3RequestMetrics;

/** Makes {@link RequestFailure}s of what the CRT says at the end of a request. */
final class CrtFailures {
  private CrtFailures() {}

  /** The first attempt that failed, as telemetry has it; {@code status} is 0 or less if none. */
  record FailedAttempt(int errorCode, int status, Map<String, String> ids) {
    static FailedAttempt of(S3RequestMetrics metrics) {
      Map<String, String> ids = new HashMap<>();
      put(ids, "x-amz-request-id", metrics::getAwsRequestId);
      put(ids, "x-amz-id-2", metrics::getAwsExtendedRequestId);
      return new FailedAttempt(metrics.getErrorCode(), metrics.getResponseStatus(), ids);
    }

    private static void put(Map<String, String> ids, String name, Supplier<String> asked) {
      String value;
      try {
        value = asked.get();
      } catch (RuntimeException e) {
        // The CRT throws where the answer had none; it may have had the other one.
        return;
      }
      if (!value.isEmpty()) {
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
      @Nullable FailedAttempt attempt,
      boolean wanted,
      @Nullable StoreAnswer begun) {
    int code = context.getErrorCode();
    boolean cancelled = isCancellation(CRT.awsErrorName(code));
    if (cancelled && wanted) {
      return RequestFailure.cancelled(subject);
    }
    if (attempt != null && cancelled) {
      code = attempt.errorCode();
    }
    String name = CRT.awsErrorName(code);
    StoreAnswer answer = answer(context, attempt, name);
    if (answer != null) {
      return RequestFailure.refused(subject, answer, null);
    }
    CrtErrors error = CrtErrors.of(name);
    String reason =
        error == CrtErrors.NO_ETAG
            ? "the answer has no ETag, and the AWS CRT reads none without"
            : name + ", " + CRT.awsErrorString(code).replaceFirst("\\.$", "");
    RequestFailure failure = new RequestFailure(error.kind, subject, reason, error.asJava(reason));
    return begun == null ? failure : failure.after(begun);
  }

  /**
   * The store's refusal, of the answer at the end or of the attempt before it; null if there is
   * none. Of an answer that the CRT would repeat it keeps neither document nor headers: status and
   * ids are known by telemetry, the code where the CRT's error can only have come from it, and in
   * place of S3's words stand the CRT's.
   */
  private static @Nullable StoreAnswer answer(
      S3FinishedResponseContext context, @Nullable FailedAttempt attempt, String error) {
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
        ? new StoreAnswer(status, CrtErrors.storeCode(error, status), wordsOf(error), headers, null)
        : StoreAnswer.of(status, headers, body);
  }

  /** What the CRT says of an answer whose words it has not kept; null if that says nothing. */
  private static @Nullable String wordsOf(String error) {
    boolean isOfAnswer =
        CrtErrors.of(error) == CrtErrors.THROTTLED || CrtErrors.of(error) == CrtErrors.SERVER;
    return isOfAnswer ? error + " (the AWS CRT keeps no words of S3's)" : null;
  }

  static RequestFailure unexpected(String subject, Throwable thrown) {
    Throwable cause = thrown instanceof LinkageError e ? CrtLibrary.broken(e) : thrown;
    return new RequestFailure(Kind.OTHER, subject, cause.toString(), cause);
  }

  static RequestFailure noCredentials(String subject, Throwable cause) {
    return new RequestFailure(Kind.CREDENTIALS, subject, "no credentials: " + cause, cause);
  }

  private static boolean isCancellation(String name) {
    return name.equals("AWS_ERROR_S3_CANCELED")
        || name.equals("AWS_ERROR_S3_PAUSED")
        || name.equals("AWS_ERROR_S3_CLIENT_SHUTDOWN")
        || name.equals("AWS_ERROR_HTTP_STREAM_CANCELLED");
  }
}
