// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.apache.hadoop.fs.s3a.impl.ChangeDetectionPolicy;
import org.apache.hadoop.fs.s3a.statistics.ChangeTrackerStatistics;
import org.apache.hadoop.fs.store.audit.AuditSpan;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/**
 * Requests by the file system's own factory and client: for announcements, and for streams of a
 * Hadoop without the stream SPI, which has no counter for leaks either.
 */
public final class FileSystemRequests extends StreamRequests {
  private final S3AFileSystem fileSystem;

  public FileSystemRequests(
      S3AFileSystem fileSystem,
      AuditSpan span,
      ChangeDetectionPolicy changePolicy,
      ChangeTrackerStatistics changeStatistics) {
    super(span, changePolicy, changeStatistics);
    this.fileSystem = fileSystem;
  }

  @Override
  public GetObjectRequest.Builder newGetRequestBuilder(String key) {
    try (AuditSpan active = span().activate()) {
      return fileSystem.getRequestFactory().newGetObjectRequestBuilder(key);
    }
  }

  @Override
  public ResponseInputStream<GetObjectResponse> getObject(GetObjectRequest request) {
    try (AuditSpan active = span().activate()) {
      return fileSystem.getS3AInternals().getAmazonS3Client("S3E read").getObject(request);
    }
  }
}
