package io.s3e.client.sdk;

import io.s3e.client.GetRequest;
import io.s3e.client.HeadRequest;
import io.s3e.client.ObjectHead;
import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.client.ResponseHead;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.HeadObjectRequest;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;

/** Translates between this package's neighbours: requests and answers of S3E and of the SDK. */
final class SdkRequests {
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

  /**
   * @param transferEncoding as the store sent it; null where the client knows better, as the CRT,
   *     which tells a Content-Length of its own
   */
  static ResponseHead head(GetObjectResponse response, @Nullable String transferEncoding) {
    Long length = response.contentLength();
    return new ResponseHead(
        response.sdkHttpResponse().statusCode(),
        response.contentRange(),
        length == null ? -1 : length,
        response.eTag(),
        response.versionId(),
        response.contentEncoding(),
        transferEncoding);
  }

  static ObjectHead head(String subject, HeadObjectResponse response) throws RequestFailure {
    Long length = response.contentLength();
    if (length == null) {
      throw new RequestFailure(Kind.OTHER, subject, "answer without Content-Length", null);
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

  private static AwsRequestOverrideConfiguration headers(
      Map<String, String> always, Map<String, String> headers) {
    AwsRequestOverrideConfiguration.Builder override = AwsRequestOverrideConfiguration.builder();
    always.forEach(override::putHeader);
    headers.forEach(override::putHeader);
    return override.build();
  }
}
