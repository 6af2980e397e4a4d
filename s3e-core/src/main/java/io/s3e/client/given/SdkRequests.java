// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.given;

import io.s3e.client.GetRequest;
import io.s3e.client.HeadRequest;
import io.s3e.client.ObjectHead;
import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.client.ResponseHead;
import io.s3e.client.ResponseHead.LengthSource;
import java.util.Map;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.HeadObjectRequest;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;

/** Translates requests and answers between S3E and the SDK. */
final class SdkRequests {
  private SdkRequests() {}

  static GetObjectRequest get(GetRequest request) {
    return GetObjectRequest.builder()
        .bucket(request.object().bucket())
        .key(request.object().key())
        .range(request.range().httpHeader())
        .ifMatch(request.etag())
        .versionId(request.versionId())
        .overrideConfiguration(headers(request.headers()))
        .build();
  }

  static HeadObjectRequest head(HeadRequest request) {
    return HeadObjectRequest.builder()
        .bucket(request.object().bucket())
        .key(request.object().key())
        .versionId(request.versionId())
        .overrideConfiguration(headers(request.headers()))
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
        response.contentEncoding(),
        response.sdkHttpResponse().firstMatchingHeader("Transfer-Encoding").orElse(null),
        LengthSource.STORE,
        response.sdkHttpResponse().firstMatchingHeader("x-amz-request-id").orElse(null));
  }

  static ObjectHead head(String subject, HeadObjectResponse response) throws RequestFailure {
    Long length = response.contentLength();
    if (length == null) {
      throw new RequestFailure(Kind.OTHER, subject, "answer without Content-Length", null);
    }
    return new ObjectHead(
        length, response.eTag(), response.versionId(), response.contentEncoding());
  }

  private static AwsRequestOverrideConfiguration headers(Map<String, String> headers) {
    AwsRequestOverrideConfiguration.Builder override = AwsRequestOverrideConfiguration.builder();
    headers.forEach(override::putHeader);
    return override.build();
  }
}
