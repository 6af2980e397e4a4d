package io.s3e.hadoop.client;

import io.s3e.client.ForwardingClient;
import io.s3e.client.ForwardingHandler;
import io.s3e.client.GetRequest;
import io.s3e.client.ObjectClient;
import io.s3e.client.RequestFailure;
import io.s3e.client.ResponseHandler;
import io.s3e.client.ResponseHead;
import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.fs.s3a.NoVersionAttributeException;
import org.apache.hadoop.fs.s3a.impl.ChangeDetectionPolicy;
import org.apache.hadoop.fs.s3a.impl.ChangeDetectionPolicy.Mode;
import org.apache.hadoop.fs.s3a.impl.ChangeDetectionPolicy.Source;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * S3A's {@code fs.s3a.change.detection.*} where it differs from what the core always does, which is
 * to send If-Match and to refuse another ETag (mode {@code server}, source {@code etag}).
 *
 * <ul>
 *   <li>mode {@code client}: no If-Match is sent; the core still compares.
 *   <li>modes {@code warn} and {@code none}: the core never learns an ETag, so it compares nothing;
 *       {@code warn} logs the first change. Such streams may mix versions, which is what was asked.
 *   <li>{@code version.required}: an answer without the attribute fails at once.
 * </ul>
 *
 * Stateless but for the revision that each stream saw last, kept with the stream's requests.
 */
public record RevisionCheckingClient(ObjectClient client) implements ForwardingClient {
  private static final Logger LOG = LoggerFactory.getLogger(RevisionCheckingClient.class);

  /** {@code client} itself if the policy asks for nothing special. */
  static ObjectClient over(ObjectClient client, ChangeDetectionPolicy policy) {
    boolean plain =
        policy.getSource() == Source.ETag
            && policy.getMode() == Mode.Server
            && !policy.isRequireVersion();
    return plain ? client : new RevisionCheckingClient(client);
  }

  /** Whether the core is to hold on to one version. */
  public static boolean pinsVersion(ChangeDetectionPolicy policy) {
    return policy.getSource() != Source.None
        && (policy.getMode() == Mode.Server || policy.getMode() == Mode.Client);
  }

  /** Whether the core holds on to one version, and the ETag says which. */
  public static boolean pinsEtag(ChangeDetectionPolicy policy) {
    return pinsVersion(policy) && policy.getSource() == Source.ETag;
  }

  @Override
  public Exchange get(GetRequest request, ResponseHandler handler) {
    StreamRequests stream = (StreamRequests) Objects.requireNonNull(request.context());
    ChangeDetectionPolicy policy = stream.changePolicy();
    boolean conditional = policy.getMode() == Mode.Server && policy.getSource() != Source.None;
    GetRequest sent =
        conditional
            ? request
            : new GetRequest(
                request.object(),
                request.range(),
                null,
                request.versionId(),
                request.lend(),
                request.headers(),
                stream);
    return client.get(sent, new Checked(request, stream, policy, handler));
  }

  /** Looks at the head and passes everything on. */
  private record Checked(
      GetRequest request,
      StreamRequests stream,
      ChangeDetectionPolicy policy,
      ResponseHandler handler)
      implements ForwardingHandler {

    @Override
    public void onHead(ResponseHead head) throws IOException {
      String revision = policy.getSource() == Source.VersionId ? head.versionId() : head.etag();
      if (revision == null && policy.isRequireVersion()) {
        throw new NoVersionAttributeException(
            request.object().toString(),
            "Change detection policy requires " + policy.getSource() + ", the answer has none");
      }
      if (pinsVersion(policy)) {
        handler.onHead(head);
        return;
      }
      if (revision != null) {
        noticeChange(revision);
      }
      handler.onHead(
          new ResponseHead(
              head.status(),
              head.contentRange(),
              head.contentLength(),
              null,
              head.versionId(),
              head.contentEncoding(),
              head.transferEncoding()));
    }

    private void noticeChange(String revision) {
      AtomicReference<@Nullable String> seen = stream.seenRevision();
      String known = seen.get();
      if (known == null) {
        seen.compareAndSet(null, revision);
      } else if (!known.equals(revision) && seen.compareAndSet(known, revision)) {
        stream.changeStatistics().versionMismatchError();
        if (policy.getMode() == Mode.Warn) {
          LOG.warn(
              "{} change detected on {} at {}. Expected {} got {}",
              policy.getSource(),
              request.object(),
              request.range().start(),
              known,
              revision);
        }
      }
    }

    @Override
    public void onFailure(RequestFailure failure) {
      boolean hopeless = failure.getCause() instanceof NoVersionAttributeException;
      handler.onFailure(
          hopeless
              ? new RequestFailure(
                  RequestFailure.Kind.OTHER,
                  failure.subject(),
                  failure.reason(),
                  failure.getCause())
              : failure);
    }
  }
}
