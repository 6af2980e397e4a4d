// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import io.s3e.client.ForwardingClient;
import io.s3e.client.ForwardingHandler;
import io.s3e.client.GetRequest;
import io.s3e.client.HeadRequest;
import io.s3e.client.ObjectClient;
import io.s3e.client.ObjectHead;
import io.s3e.client.RequestFailure;
import io.s3e.client.ResponseHandler;
import io.s3e.client.ResponseHead;
import java.io.IOException;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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
 *   <li>modes {@code warn} and {@code none}: the core never learns an ETag, and of the object's
 *       size it hears what the first answer told as long as the store has what is asked for, so it
 *       finds no change; {@code warn} logs the first one. Such streams may mix versions, which is
 *       what was asked.
 *   <li>source {@code versionid}, mode {@code server}: what was opened without a version id is
 *       asked for by that of the first answer, so that a stream reads on when the object is
 *       replaced.
 *   <li>{@code version.required}: an answer without the attribute fails at once, be it one that the
 *       client itself does not read.
 * </ul>
 *
 * Stateless but for what each stream saw first and last, kept with the stream's requests.
 */
public record RevisionCheckingClient(ObjectClient client) implements ForwardingClient {
  private static final Logger LOG = LoggerFactory.getLogger(RevisionCheckingClient.class);

  private static final int PARTIAL_CONTENT = 206;

  private static final Pattern CONTENT_RANGE =
      Pattern.compile("(bytes \\d{1,18}-(\\d{1,18})/)(\\d{1,18})");

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

  /** Whether the version that is read is asked for by its id, which needs a permission more. */
  public static boolean asksForVersion(ChangeDetectionPolicy policy) {
    return policy.getSource() == Source.VersionId && policy.getMode() == Mode.Server;
  }

  @Override
  public ObjectHead head(HeadRequest request) throws IOException {
    StreamRequests stream = (StreamRequests) Objects.requireNonNull(request.context());
    String version = stream.versionToRead(request.versionId());
    return client.head(new HeadRequest(request.object(), version, request.headers(), stream));
  }

  /** If-Match goes along with a version id: under the id "null" a version can be replaced. */
  @Override
  public Exchange get(GetRequest request, ResponseHandler handler) {
    StreamRequests stream = (StreamRequests) Objects.requireNonNull(request.context());
    ChangeDetectionPolicy policy = stream.changePolicy();
    boolean conditional = policy.getMode() == Mode.Server && policy.getSource() != Source.None;
    GetRequest sent =
        new GetRequest(
            request.object(),
            request.range(),
            conditional ? request.etag() : null,
            stream.versionToRead(request.versionId()),
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
      if (head.status() != PARTIAL_CONTENT) {
        // No answer to the request, and refused as that.
        handler.onHead(head);
        return;
      }
      String revision = policy.getSource() == Source.VersionId ? head.versionId() : head.etag();
      if (revision == null && policy.isRequireVersion()) {
        throw noVersion();
      }
      if (pinsVersion(policy)) {
        handler.onHead(head);
        if (asksForVersion(policy) && revision != null) {
          // Of an answer that was not accepted nothing is kept.
          stream.reads(revision);
        }
        return;
      }
      if (revision != null) {
        noticeChange(revision);
      }
      handler.onHead(
          new ResponseHead(
              head.status(),
              withFirstTotal(head.contentRange()),
              head.contentLength(),
              null,
              head.versionId(),
              head.contentEncoding(),
              head.transferEncoding(),
              head.lengthSource(),
              head.requestId()));
    }

    private NoVersionAttributeException noVersion() {
      return new NoVersionAttributeException(
          request.object().toString(),
          "Change detection policy requires " + policy.getSource() + ", the answer has none");
    }

    /**
     * The range with the total that the stream was told first, if the store has all that was asked
     * for up to there; else as it came.
     */
    private @Nullable String withFirstTotal(@Nullable String contentRange) {
      Matcher told = CONTENT_RANGE.matcher(String.valueOf(contentRange));
      if (!told.matches()) {
        return contentRange;
      }
      long end = Long.parseLong(told.group(2)) + 1;
      long total = Long.parseLong(told.group(3));
      long first = stream.firstTotal().updateAndGet(known -> known == 0 ? total : known);
      boolean isWhole = end == Math.min(request.range().end(), first) && end <= total;
      return isWhole ? told.group(1) + first : contentRange;
    }

    /** As S3A: the first change of a stream, where changes are to be told. */
    private void noticeChange(String revision) {
      String expected = policy.getMode() == Mode.Warn ? stream.changedFrom(revision) : null;
      if (expected != null) {
        stream.changeStatistics().versionMismatchError();
        LOG.warn(
            "{} change detected on {} at {}. Expected {} got {}",
            policy.getSource(),
            request.object(),
            request.range().start(),
            expected,
            revision);
      }
    }

    @Override
    public void onFailure(RequestFailure failure) {
      Throwable cause = failure.getCause();
      if (failure.kind() == RequestFailure.Kind.NO_ETAG
          && policy.getSource() == Source.ETag
          && policy.isRequireVersion()) {
        cause = noVersion();
      }
      boolean hopeless = cause instanceof NoVersionAttributeException;
      handler.onFailure(
          hopeless
              ? new RequestFailure(
                  RequestFailure.Kind.OTHER, failure.subject(), failure.reason(), cause)
              : failure);
    }
  }
}
