// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.given;

import io.s3e.client.GetRequest;
import io.s3e.client.HeadRequest;
import io.s3e.client.ObjectHead;
import java.io.IOException;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/**
 * Sends a request by an SDK client and blocks until its answer begins: the seam for programs whose
 * S3Client must be called in a way of their own, as Hadoop's S3A's must. Any thread. Failures are
 * SdkException or IOException, as the SDK client raises them.
 */
public interface BlockingStore {

  /** The answer's head, with its body to be read or aborted by the caller. */
  ResponseInputStream<GetObjectResponse> get(GetRequest request) throws IOException;

  /** Size and version of an object. */
  ObjectHead head(HeadRequest request) throws IOException;

  /** An SDK client called plainly. */
  static BlockingStore of(S3Client s3) {
    return new BlockingStore() {
      @Override
      public ResponseInputStream<GetObjectResponse> get(GetRequest request) {
        return s3.getObject(SdkRequests.get(request));
      }

      @Override
      public ObjectHead head(HeadRequest request) throws IOException {
        return SdkRequests.head(request.subject(), s3.headObject(SdkRequests.head(request)));
      }
    };
  }
}
