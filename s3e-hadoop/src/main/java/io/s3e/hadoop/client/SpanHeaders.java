// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import io.s3e.client.GetRequest;
import io.s3e.client.HeadRequest;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.fs.s3a.audit.AuditSpanS3A;
import org.apache.hadoop.fs.store.audit.AuditSpan;
import software.amazon.awssdk.awscore.AwsExecutionAttribute;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.core.SdkRequest;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;

/**
 * The headers that S3A would add to one request. The audit span is asked as the SDK asks it, by
 * {@code modifyHttpRequest} with an HTTP request that is never sent, so the configured auditor
 * decides.
 */
final class SpanHeaders {
  private static final String SSE_ALGORITHM = "x-amz-server-side-encryption-customer-algorithm";
  private static final String SSE_KEY = "x-amz-server-side-encryption-customer-key";
  private static final String SSE_KEY_MD5 = "x-amz-server-side-encryption-customer-key-MD5";

  private SpanHeaders() {}

  /** For a GET of a range. */
  static Map<String, String> ofGet(GetRequest request, StreamRequests stream) {
    return of(
        stream
            .newGetRequestBuilder(request.object().key())
            .range(request.range().httpHeader())
            .build(),
        SdkHttpMethod.GET,
        stream);
  }

  /** For a HEAD. */
  static Map<String, String> ofHead(HeadRequest request, StreamRequests stream) {
    return of(
        stream.newGetRequestBuilder(request.object().key()).build(), SdkHttpMethod.HEAD, stream);
  }

  /** The key of SSE-C that a request carries; nothing if it carries none. */
  static Map<String, String> ofCustomerKey(GetObjectRequest s3aRequest) {
    if (s3aRequest.sseCustomerKey() == null) {
      return Map.of();
    }
    Map<String, String> headers = new HashMap<>();
    put(headers, SSE_ALGORITHM, s3aRequest.sseCustomerAlgorithm());
    put(headers, SSE_KEY, s3aRequest.sseCustomerKey());
    put(headers, SSE_KEY_MD5, s3aRequest.sseCustomerKeyMD5());
    return headers;
  }

  private static Map<String, String> of(
      GetObjectRequest s3aRequest, SdkHttpMethod method, StreamRequests stream) {
    Map<String, String> headers = new HashMap<>(ofCustomerKey(s3aRequest));
    s3aRequest
        .overrideConfiguration()
        .map(AwsRequestOverrideConfiguration::headers)
        .ifPresent(more -> putAll(headers, more));
    AuditSpan span = stream.span();
    if (span instanceof AuditSpanS3A auditor) {
      putAll(headers, byAuditor(auditor, s3aRequest, method));
    }
    return headers;
  }

  private static Map<String, List<String>> byAuditor(
      AuditSpanS3A auditor, GetObjectRequest s3aRequest, SdkHttpMethod method) {
    SdkHttpRequest.Builder bare =
        SdkHttpRequest.builder()
            .method(method)
            .protocol("https")
            .host(s3aRequest.bucket())
            .encodedPath("/");
    if (s3aRequest.range() != null) {
      bare.putHeader("Range", s3aRequest.range());
    }
    ExecutionAttributes attributes =
        new ExecutionAttributes()
            .putAttribute(AwsExecutionAttribute.SERVICE_NAME, "S3")
            .putAttribute(
                AwsExecutionAttribute.OPERATION_NAME,
                method == SdkHttpMethod.GET ? "GetObject" : "HeadObject");
    SdkHttpRequest audited;
    // A span keeps the range between being told and writing it: one request at a time.
    synchronized (auditor) {
      audited = auditor.modifyHttpRequest(new Attempt(s3aRequest, bare.build()), attributes);
    }
    Map<String, List<String>> added = new HashMap<>(audited.headers());
    added.remove("Range");
    added.remove("Host");
    return added;
  }

  private static void put(Map<String, String> headers, String name, String value) {
    if (value != null) {
      headers.put(name, value);
    }
  }

  private static void putAll(Map<String, String> headers, Map<String, List<String>> more) {
    more.forEach((name, values) -> headers.put(name, String.join(",", values)));
  }

  /** The parts of a request that the SDK shows to interceptors before it sends. */
  private record Attempt(SdkRequest request, SdkHttpRequest httpRequest)
      implements Context.ModifyHttpRequest {
    @Override
    public Optional<RequestBody> requestBody() {
      return Optional.empty();
    }

    @Override
    public Optional<AsyncRequestBody> asyncRequestBody() {
      return Optional.empty();
    }
  }
}
