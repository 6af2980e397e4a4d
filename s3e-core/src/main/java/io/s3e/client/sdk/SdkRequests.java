package io.s3e.client.sdk;

import io.s3e.client.GetRequest;
import io.s3e.client.HeadRequest;
import io.s3e.client.ObjectHead;
import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.client.ResponseHead;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.AbortedException;
import software.amazon.awssdk.core.exception.ApiCallAttemptTimeoutException;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.HeadObjectRequest;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;

/** Translates between this package's neighbours: requests and answers of S3E and of the SDK. */
final class SdkRequests {
  private static final Set<String> THROTTLING_CODES =
      Set.of(
          "SlowDown",
          "ServiceUnavailable",
          "Throttling",
          "ThrottlingException",
          "RequestLimitExceeded",
          "RequestThrottled",
          "TooManyRequestsException");

  private static final String CRT_FAILED = "Failed to send the request";

  private SdkRequests() {}

  static GetObjectRequest get(GetRequest request) {
    return get(request, Map.of());
  }

  static HeadObjectRequest head(HeadRequest request) {
    return head(request, Map.of());
  }

  /** With further headers, which those of the request replace. */
  static GetObjectRequest get(GetRequest request, Map<String, String> always) {
    return GetObjectRequest.builder()
        .bucket(request.object().bucket())
        .key(request.object().key())
        .range(request.range().httpHeader())
        .ifMatch(request.etag())
        .versionId(request.versionId())
        .overrideConfiguration(headers(always, request.headers()))
        .build();
  }

  /** With further headers, which those of the request replace. */
  static HeadObjectRequest head(HeadRequest request, Map<String, String> always) {
    return HeadObjectRequest.builder()
        .bucket(request.object().bucket())
        .key(request.object().key())
        .versionId(request.versionId())
        .overrideConfiguration(headers(always, request.headers()))
        .build();
  }

  static ResponseHead head(GetObjectResponse response) {
    Long length = response.contentLength();
    return new ResponseHead(
        response.sdkHttpResponse().statusCode(),
        response.contentRange(),
        length == null ? -1 : length,
        response.eTag(),
        response.versionId(),
        response.contentEncoding());
  }

  static ObjectHead head(String subject, HeadObjectResponse response) throws RequestFailure {
    Long length = response.contentLength();
    if (length == null) {
      throw new RequestFailure(
          Kind.OTHER,
          response.sdkHttpResponse().statusCode(),
          subject + ": answer without Content-Length",
          null);
    }
    return new ObjectHead(
        length, response.eTag(), response.versionId(), response.contentEncoding());
  }

  static String subject(GetRequest request) {
    return "GET " + request.object() + " " + request.range();
  }

  static String subject(HeadRequest request) {
    return "HEAD " + request.object();
  }

  static RequestFailure rejected(String subject, int status, Throwable reason) {
    return new RequestFailure(
        Kind.REJECTED, status, subject + ": response refused: " + reason.getMessage(), reason);
  }

  /** More bytes came than the answer announced, for not every HTTP client stops there. */
  static RequestFailure overlong(String subject, long announced) {
    return new RequestFailure(
        Kind.NETWORK, 0, subject + ": the body goes on after its " + announced + " bytes", null);
  }

  /** The SDK throws for refusals, so this status is none: what came was not HTTP. */
  static RequestFailure notAnAnswer(String subject, int status) {
    return new RequestFailure(
        Kind.NETWORK, 0, subject + ": what came is no answer, status " + status, null);
  }

  static RequestFailure cancelled(String subject) {
    return new RequestFailure(Kind.CANCELLED, 0, subject + ": cancelled", null);
  }

  static RequestFailure closed(String subject) {
    return new RequestFailure(Kind.CANCELLED, 0, subject + ": the client is closed", null);
  }

  static RequestFailure network(String subject, IOException cause) {
    return new RequestFailure(Kind.NETWORK, 0, subject + ": " + cause, cause);
  }

  static RequestFailure truncated(String subject, long received, long announced) {
    return new RequestFailure(
        Kind.NETWORK,
        0,
        subject + ": the body ended after " + received + " of " + announced + " bytes",
        null);
  }

  /** What an exception of the SDK means. */
  static RequestFailure failure(String subject, Throwable thrown) {
    Throwable cause = thrown;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    if (cause instanceof AwsServiceException refused) {
      return serviceFailure(subject, refused);
    }
    if (cause instanceof AbortedException) {
      return new RequestFailure(Kind.CANCELLED, 0, subject + ": " + cause.getMessage(), cause);
    }
    return new RequestFailure(clientKind(cause), 0, subject + ": " + cause, cause);
  }

  private static RequestFailure serviceFailure(String subject, AwsServiceException refused) {
    int status = refused.statusCode();
    AwsErrorDetails details = refused.awsErrorDetails();
    String code = details == null ? null : details.errorCode();
    Kind kind;
    if (code != null && THROTTLING_CODES.contains(code)) {
      kind = Kind.THROTTLED;
    } else if ("RequestTimeout".equals(code)) {
      kind = Kind.SERVER;
    } else {
      kind = RequestFailure.kindOf(status);
    }
    return new RequestFailure(
        kind, status, subject + ": " + status + " " + refused.getMessage(), refused);
  }

  private static Kind clientKind(Throwable thrown) {
    String message = thrown.getMessage();
    if (thrown instanceof SdkClientException && message != null && message.startsWith(CRT_FAILED)) {
      // All that the SDK's wrapper of the CRT leaves of the CRT's error is its description.
      if (message.contains("throttling")) {
        return Kind.THROTTLED;
      }
      return message.contains("internal server error") ? Kind.SERVER : Kind.NETWORK;
    }
    return isNetwork(thrown) ? Kind.NETWORK : Kind.OTHER;
  }

  private static boolean isNetwork(@Nullable Throwable thrown) {
    for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
      if (cause instanceof IOException
          || cause instanceof UncheckedIOException
          || cause instanceof TimeoutException
          || cause instanceof ApiCallTimeoutException
          || cause instanceof ApiCallAttemptTimeoutException) {
        return true;
      }
    }
    return false;
  }

  private static AwsRequestOverrideConfiguration headers(
      Map<String, String> always, Map<String, String> headers) {
    AwsRequestOverrideConfiguration.Builder override = AwsRequestOverrideConfiguration.builder();
    always.forEach(override::putHeader);
    headers.forEach(override::putHeader);
    return override.build();
  }
}
