// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.given;

import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.client.StoreAnswer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.cert.CertificateException;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLPeerUnverifiedException;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.core.exception.AbortedException;
import software.amazon.awssdk.core.exception.ApiCallAttemptTimeoutException;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.http.SdkHttpResponse;

/** Makes {@link RequestFailure}s of what goes wrong in and around an SDK client. */
final class SdkFailures {
  /** The methods of credentials providers that the SDK calls, whatever classes they are of. */
  private static final Set<String> PROVIDERS = Set.of("resolveCredentials", "resolveIdentity");

  private SdkFailures() {}

  static RequestFailure rejected(String subject, Throwable reason) {
    return new RequestFailure(
        Kind.REJECTED, subject, "response refused: " + reason.getMessage(), reason);
  }

  /** The failure that an exception of the SDK means; with the interrupt flag set, a cancel. */
  static RequestFailure failure(String subject, Throwable cause) {
    // What the service of a credentials provider refuses is nothing that the store has said.
    if (cause instanceof AwsServiceException refused
        && refused.statusCode() >= 300
        && !isOfProvider(refused)) {
      return RequestFailure.refused(subject, answer(refused), refused);
    }
    if (cause instanceof AbortedException) {
      boolean interrupted = Thread.currentThread().isInterrupted();
      Kind kind = interrupted ? Kind.CANCELLED : Kind.NETWORK;
      return new RequestFailure(kind, subject, cause.toString(), cause);
    }
    Kind kind = clientKind(cause);
    String reason = kind == Kind.CREDENTIALS ? "no credentials: " + cause : cause.toString();
    return new RequestFailure(kind, subject, reason, cause);
  }

  private static StoreAnswer answer(AwsServiceException refused) {
    Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    if (refused.requestId() != null) {
      headers.put("x-amz-request-id", refused.requestId());
    }
    if (refused.extendedRequestId() != null) {
      headers.put("x-amz-id-2", refused.extendedRequestId());
    }
    AwsErrorDetails details = refused.awsErrorDetails();
    if (details == null) {
      return new StoreAnswer(refused.statusCode(), null, refused.getMessage(), headers, null);
    }
    SdkHttpResponse response = details.sdkHttpResponse();
    if (response != null) {
      response.forEachHeader((name, values) -> headers.put(name, String.join(",", values)));
    }
    SdkBytes raw = details.rawResponse();
    String body = raw == null ? "" : new String(raw.asByteArray(), StandardCharsets.UTF_8);
    String region = StoreAnswer.of(refused.statusCode(), headers, body).errorRegion();
    return new StoreAnswer(
        refused.statusCode(), details.errorCode(), details.errorMessage(), headers, region);
  }

  private static Kind clientKind(Throwable thrown) {
    Kind kind = Kind.OTHER;
    for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
      if (isOfProvider(cause)) {
        return Kind.CREDENTIALS;
      }
      if (cause instanceof SSLHandshakeException
          || cause instanceof SSLPeerUnverifiedException
          || cause instanceof CertificateException) {
        return Kind.TLS;
      }
      if (cause instanceof IOException
          || cause instanceof TimeoutException
          || cause instanceof ApiCallTimeoutException
          || cause instanceof ApiCallAttemptTimeoutException) {
        kind = Kind.NETWORK;
      }
    }
    return kind;
  }

  /** Whether a credentials provider has thrown it, which no class of exceptions tells. */
  private static boolean isOfProvider(Throwable thrown) {
    return Arrays.stream(thrown.getStackTrace())
        .anyMatch(frame -> PROVIDERS.contains(frame.getMethodName()));
  }
}
