package io.s3e.hadoop.client;

import io.s3e.client.ClientLimits;
import io.s3e.client.GetRequest;
import io.s3e.client.HeadRequest;
import io.s3e.client.ObjectClient;
import io.s3e.client.ObjectHead;
import io.s3e.client.ResponseHandler;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.apache.hadoop.fs.store.audit.AuditSpan;

/**
 * Gives the requests of S3E's own client what S3A's interceptors and request factory would have
 * given them: SSE-C keys, and the audit span's {@code Referer} header with the range of a GET. The
 * span is active on the thread that issues the GET.
 */
final class AuditedClient implements ObjectClient {
  private final ObjectClient client;

  AuditedClient(ObjectClient client) {
    this.client = client;
  }

  @Override
  public String name() {
    return client.name();
  }

  @Override
  public ClientLimits limits() {
    return client.limits();
  }

  @Override
  public ObjectHead head(HeadRequest request) throws IOException {
    StreamRequests stream = (StreamRequests) Objects.requireNonNull(request.context());
    try (AuditSpan active = stream.span().activate()) {
      Map<String, String> headers = new HashMap<>(request.headers());
      headers.putAll(SpanHeaders.ofHead(request, stream));
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
          handler);
    }
  }

  @Override
  public void close() {
    client.close();
  }
}
