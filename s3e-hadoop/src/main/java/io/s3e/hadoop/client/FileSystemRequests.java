// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.apache.hadoop.fs.s3a.impl.ChangeDetectionPolicy;
import org.apache.hadoop.fs.s3a.statistics.ChangeTrackerStatistics;
import org.apache.hadoop.fs.store.audit.AuditSpan;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/**
 * Requests by the file system's own factory and client: for announcements, and for streams of a
 * Hadoop without the stream SPI.
 */
public final class FileSystemRequests implements StreamRequests {
  private final S3AFileSystem fileSystem;
  private final AuditSpan span;
  private final ChangeDetectionPolicy changePolicy;
  private final ChangeTrackerStatistics changeStatistics;
  private final AtomicReference<@Nullable String> seenRevision = new AtomicReference<>();
  private final AtomicLong firstTotal = new AtomicLong();

  public FileSystemRequests(
      S3AFileSystem fileSystem,
      AuditSpan span,
      ChangeDetectionPolicy changePolicy,
      ChangeTrackerStatistics changeStatistics) {
    this.fileSystem = fileSystem;
    this.span = span;
    this.changePolicy = changePolicy;
    this.changeStatistics = changeStatistics;
  }

  @Override
  public GetObjectRequest.Builder newGetRequestBuilder(String key) {
    try (AuditSpan active = span.activate()) {
      return fileSystem.getRequestFactory().newGetObjectRequestBuilder(key);
    }
  }

  @Override
  public ResponseInputStream<GetObjectResponse> getObject(GetObjectRequest request) {
    try (AuditSpan active = span.activate()) {
      return fileSystem.getS3AInternals().getAmazonS3Client("S3E read").getObject(request);
    }
  }

  @Override
  public AuditSpan span() {
    return span;
  }

  @Override
  public ChangeDetectionPolicy changePolicy() {
    return changePolicy;
  }

  @Override
  public ChangeTrackerStatistics changeStatistics() {
    return changeStatistics;
  }

  @Override
  public AtomicReference<@Nullable String> seenRevision() {
    return seenRevision;
  }

  @Override
  public AtomicLong firstTotal() {
    return firstTotal;
  }

  /** Hadoop 3.4.1 has no counter for leaks. */
  @Override
  public void countLeak() {}

  @Override
  public void close() {
    span.close();
  }
}
