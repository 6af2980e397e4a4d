// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import io.s3e.client.ForwardingClient;
import io.s3e.client.ForwardingHandler;
import io.s3e.client.GetRequest;
import io.s3e.client.HeadRequest;
import io.s3e.client.ObjectClient;
import io.s3e.client.ObjectHead;
import io.s3e.client.ResponseHandler;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.apache.hadoop.fs.s3a.S3AInstrumentation;
import org.apache.hadoop.fs.s3a.Statistic;
import org.apache.hadoop.fs.store.audit.AuditSpan;

/**
 * Gives the requests of S3E's own client what S3A's interceptors and request factory would have
 * given them: SSE-C keys, and the audit span's {@code Referer} header with the range of a GET. The
 * span is active on the thread that issues the GET. Counts each request as S3A's metrics publisher
 * and audit manager would, which see those of S3A's client only.
 */
record AuditedClient(ObjectClient client, S3AInstrumentation instrumentation, boolean audited)
    implements ForwardingClient {

  private void count() {
    instrumentation.incrementCounter(Statistic.STORE_IO_REQUEST, 1);
    if (audited) {
      instrumentation.incrementCounter(Statistic.AUDIT_REQUEST_EXECUTION, 1);
    }
  }

  @Override
  public ObjectHead head(HeadRequest request) throws IOException {
    StreamRequests stream = (StreamRequests) Objects.requireNonNull(request.context());
    try (AuditSpan active = stream.span().activate()) {
      Map<String, String> headers = new HashMap<>(request.headers());
      headers.putAll(SpanHeaders.ofHead(request, stream));
      count();
      return client.head(new HeadRequest(request.object(), request.versionId(), headers, stream));
    }
  }

  @Override
  public Exchange get(GetRequest request, ResponseHandler handler) {
    StreamRequests stream = (StreamRequests) Objects.requireNonNull(request.context());
    try (AuditSpan active = stream.span().activate()) {
      Map<String, String> headers = new HashMap<>(request.headers());
      headers.putAll(SpanHeaders.ofGet(request, stream));
      return client.get(
          new GetRequest(
              request.object(),
              request.range(),
              request.etag(),
              request.versionId(),
              request.lend(),
              headers,
              stream),
          new Counted(handler));
    }
  }

  /** Counts what goes out. */
  private final class Counted implements ForwardingHandler {
    private final ResponseHandler handler;

    Counted(ResponseHandler handler) {
      this.handler = handler;
    }

    @Override
    public ResponseHandler handler() {
      return handler;
    }

    @Override
    public void onSent() {
      count();
      handler.onSent();
    }
  }
}
