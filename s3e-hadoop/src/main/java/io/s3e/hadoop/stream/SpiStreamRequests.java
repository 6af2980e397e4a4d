// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.stream;

import io.s3e.hadoop.client.StreamRequests;
import java.io.IOException;
import org.apache.hadoop.fs.s3a.impl.streams.ObjectInputStreamCallbacks;
import org.apache.hadoop.fs.s3a.impl.streams.ObjectReadParameters;
import org.apache.hadoop.fs.s3a.statistics.S3AInputStreamStatistics;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/** Requests through the callbacks of the stream SPI, which activate the span themselves. */
final class SpiStreamRequests extends StreamRequests {
  private final ObjectInputStreamCallbacks callbacks;
  private final S3AInputStreamStatistics statistics;

  SpiStreamRequests(ObjectReadParameters parameters) {
    // Not parameters.getAuditSpan(): Hadoop 3.4.2 has it in the context only.
    super(
        parameters.getContext().getAuditSpan(),
        parameters.getContext().getChangeDetectionPolicy(),
        parameters.getStreamStatistics().getChangeTrackerStatistics());
    callbacks = parameters.getCallbacks();
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
  public void countLeak() {
    statistics.streamLeaked();
  }

  @Override
  public void close() throws IOException {
    callbacks.close();
  }
}
