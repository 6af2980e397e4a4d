// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.stream;

import io.s3e.hadoop.client.StreamRequests;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.fs.s3a.S3AReadOpContext;
import org.apache.hadoop.fs.s3a.impl.ChangeDetectionPolicy;
import org.apache.hadoop.fs.s3a.impl.streams.ObjectInputStreamCallbacks;
import org.apache.hadoop.fs.s3a.impl.streams.ObjectReadParameters;
import org.apache.hadoop.fs.s3a.statistics.ChangeTrackerStatistics;
import org.apache.hadoop.fs.s3a.statistics.S3AInputStreamStatistics;
import org.apache.hadoop.fs.store.audit.AuditSpan;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/** Requests through the callbacks of the stream SPI, which activate the span themselves. */
final class SpiStreamRequests implements StreamRequests {
  private final ObjectInputStreamCallbacks callbacks;
  private final S3AReadOpContext context;
  private final AuditSpan span;
  private final S3AInputStreamStatistics statistics;
  private final AtomicReference<@Nullable String> seenRevision = new AtomicReference<>();
  private final AtomicLong firstTotal = new AtomicLong();

  SpiStreamRequests(ObjectReadParameters parameters) {
    callbacks = parameters.getCallbacks();
    context = parameters.getContext();
    // Not parameters.getAuditSpan(): Hadoop 3.4.2 has it in the context only.
    span = context.getAuditSpan();
    statistics = parameters.getStreamStatistics();
  }

  @Override
  public GetObjectRequest.Builder newGetRequestBuilder(String key) {
    return callbacks.newGetRequestBuilder(key);
  }

  @Override
  public ResponseInputStream<GetObjectResponse> getObject(GetObjectRequest request)
      throws IOException {
    return callbacks.getObject(request);
  }

  @Override
  public AuditSpan span() {
    return span;
  }

  @Override
  public ChangeDetectionPolicy changePolicy() {
    return context.getChangeDetectionPolicy();
  }

  @Override
  public ChangeTrackerStatistics changeStatistics() {
    return statistics.getChangeTrackerStatistics();
  }

  @Override
  public AtomicReference<@Nullable String> seenRevision() {
    return seenRevision;
  }

  @Override
  public AtomicLong firstTotal() {
    return firstTotal;
  }

  @Override
  public void countLeak() {
    statistics.streamLeaked();
  }

  @Override
  public void close() throws IOException {
    callbacks.close();
  }
}
