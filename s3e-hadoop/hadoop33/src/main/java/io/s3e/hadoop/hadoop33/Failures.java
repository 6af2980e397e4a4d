// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.hadoop33;

import com.amazonaws.SdkBaseException;
import com.amazonaws.services.s3.model.AmazonS3Exception;
import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.client.StoreAnswer;
import io.s3e.fetch.ObjectChangedException;
import java.io.IOException;
import org.apache.hadoop.fs.s3a.RemoteFileChangedException;
import org.apache.hadoop.fs.s3a.S3AUtils;
import org.jspecify.annotations.Nullable;

/** S3A's exceptions for failures of S3E's reads, made by S3A's own table of them. */
final class Failures {
  private static final String OPERATION = "read";

  private Failures() {}

  static IOException translate(String path, IOException failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof ObjectChangedException) {
        return changed(path, failure);
      }
      if (cause instanceof SdkBaseException ofProvider) {
        return S3AUtils.translateException(OPERATION, path, ofProvider);
      }
      StoreAnswer refusal = cause instanceof RequestFailure request ? request.refusal() : null;
      if (refusal != null) {
        return refusal.status() == 412
            ? changed(path, failure)
            : withCause(S3AUtils.translateException(OPERATION, path, asSdks(refusal)), failure);
      }
    }
    return failure;
  }

  /** The kind of the request's failure among the causes; null if it was no request that failed. */
  static @Nullable Kind kind(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof RequestFailure request) {
        return request.kind();
      }
    }
    return null;
  }

  private static IOException changed(String path, IOException failure) {
    return new RemoteFileChangedException(path, OPERATION, failure.getMessage(), failure);
  }

  private static IOException withCause(IOException told, IOException failure) {
    told.addSuppressed(failure);
    return told;
  }

  private static AmazonS3Exception asSdks(StoreAnswer refusal) {
    String message = refusal.message();
    AmazonS3Exception exception = new AmazonS3Exception(message == null ? "" : message);
    exception.setStatusCode(refusal.status());
    exception.setErrorCode(refusal.code());
    exception.setRequestId(refusal.requestId());
    exception.setExtendedRequestId(refusal.extendedRequestId());
    return exception;
  }
}
