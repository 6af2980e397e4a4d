// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import java.io.Closeable;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.fs.s3a.impl.ChangeDetectionPolicy;
import org.apache.hadoop.fs.s3a.impl.ChangeDetectionPolicy.Source;
import org.apache.hadoop.fs.s3a.statistics.ChangeTrackerStatistics;
import org.apache.hadoop.fs.store.audit.AuditSpan;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/**
 * The parts of S3A that the requests of one stream need: request builders that carry SSE-C keys,
 * S3A's client within the stream's audit span, and the change detection policy. It travels as the
 * context of every request, so it must not refer to the stream. Any thread.
 */
public abstract class StreamRequests implements Closeable {
  private final AuditSpan span;
  private final ChangeDetectionPolicy changePolicy;
  private final ChangeTrackerStatistics changeStatistics;
  private final AtomicReference<@Nullable String> expected = new AtomicReference<>();
  private final AtomicBoolean hasChanged = new AtomicBoolean();
  private final AtomicLong firstTotal = new AtomicLong();
  private final AtomicReference<@Nullable String> readVersion = new AtomicReference<>();

  protected StreamRequests(
      AuditSpan span,
      ChangeDetectionPolicy changePolicy,
      ChangeTrackerStatistics changeStatistics) {
    this.span = span;
    this.changePolicy = changePolicy;
    this.changeStatistics = changeStatistics;
  }

  /** A request for the key as S3A would make it, within the audit span. */
  public abstract GetObjectRequest.Builder newGetRequestBuilder(String key);

  /**
   * Sends by S3A's client, within the audit span of the calling thread.
   *
   * @throws IOException as S3A raises it; SdkException passes as well
   */
  public abstract ResponseInputStream<GetObjectResponse> getObject(GetObjectRequest request)
      throws IOException;

  /**
   * The headers by which requests for {@code key} carry a customer's key (SSE-C); none without one.
   * The core is told of them, since it holds apart what only that key opens; what is sent is S3A's.
   */
  public final Map<String, String> customerKey(String key) {
    return SpanHeaders.ofCustomerKey(newGetRequestBuilder(key).build());
  }

  /** The span that the stream was opened in. */
  final AuditSpan span() {
    return span;
  }

  /** The rule of what counts as a change of the object, and of what happens then. */
  final ChangeDetectionPolicy changePolicy() {
    return changePolicy;
  }

  /** Counts detected changes. */
  final ChangeTrackerStatistics changeStatistics() {
    return changeStatistics;
  }

  /**
   * The stream is opened as that, as far as it is told; for the modes that do not pin a version.
   */
  public final void opened(@Nullable String etag, @Nullable String versionId) {
    expected.set(changePolicy.getSource() == Source.VersionId ? versionId : etag);
  }

  /** The revision that was expected, if this is the stream's first answer of another one. */
  final @Nullable String changedFrom(String revision) {
    String known = expected.get();
    if (known == null) {
      expected.compareAndSet(null, revision);
      return null;
    }
    // Not all that tell an ETag have it in quotation marks.
    boolean isSame = known.replace("\"", "").equals(revision.replace("\"", ""));
    return !isSame && hasChanged.compareAndSet(false, true) ? known : null;
  }

  /** The object's size by this stream's first answer, in bytes, in the same modes; 0 before it. */
  final AtomicLong firstTotal() {
    return firstTotal;
  }

  /** The first version that an accepted answer tells is the one that is read from then on. */
  final void reads(String versionId) {
    readVersion.compareAndSet(null, versionId);
  }

  /** The version that was opened, else the one that is read; null if neither is known. */
  final @Nullable String versionToRead(@Nullable String opened) {
    return opened == null ? readVersion.get() : opened;
  }

  /** Counts a stream that was never closed, where this Hadoop has a counter for it. */
  public void countLeak() {}

  /** Ends the audit span. */
  @Override
  public void close() throws IOException {
    span.close();
  }
}
