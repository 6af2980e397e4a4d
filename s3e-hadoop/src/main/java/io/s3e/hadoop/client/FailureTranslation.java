package io.s3e.hadoop.client;

import io.s3e.client.RequestFailure;
import io.s3e.client.StoreAnswer;
import io.s3e.fetch.ObjectChangedException;
import java.io.IOException;
import org.apache.hadoop.fs.s3a.NoVersionAttributeException;
import org.apache.hadoop.fs.s3a.RemoteFileChangedException;
import org.apache.hadoop.fs.s3a.S3AUtils;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * Turns the core's exceptions into those that S3A's stream raises, by S3A's own table: 404 to
 * FileNotFoundException, 403 to AccessDeniedException, 412 to RemoteFileChangedException and so on.
 * The core's exception stays in the chain of causes, because it names offset, length and size.
 */
public final class FailureTranslation {
  private FailureTranslation() {}

  /**
   * @param operation what was tried, for the message
   * @param path the file's URI
   * @param failure what the core raised
   * @return what the caller is to see; {@code failure} itself if S3A has no class for it
   */
  public static IOException translate(String operation, String path, IOException failure) {
    if (failure instanceof ObjectChangedException) {
      return new RemoteFileChangedException(path, operation, message(failure), failure);
    }
    RequestFailure request = requestFailure(failure);
    if (request == null) {
      return failure;
    }
    if (request.getCause() instanceof NoVersionAttributeException noVersion) {
      return noVersion;
    }
    if (request.kind() == RequestFailure.Kind.CHANGED) {
      return new RemoteFileChangedException(path, operation, message(failure), failure);
    }
    StoreAnswer refusal = request.refusal();
    if (refusal == null) {
      return failure;
    }
    SdkException asSdk =
        S3Exception.builder()
            .statusCode(refusal.status())
            .awsErrorDetails(
                AwsErrorDetails.builder()
                    .errorCode(errorCode(request))
                    .errorMessage(message(request))
                    .build())
            .message(message(failure))
            .cause(failure)
            .build();
    return S3AUtils.translateException(operation, path, asSdk);
  }

  /** The store's own error code where the SDK kept it: S3A tells a missing bucket by it. */
  private static String errorCode(RequestFailure failure) {
    for (Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) {
      if (cause instanceof S3Exception s3 && s3.awsErrorDetails() != null) {
        return s3.awsErrorDetails().errorCode();
      }
    }
    return failure.kind().name();
  }

  private static @Nullable RequestFailure requestFailure(IOException failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof RequestFailure request) {
        return request;
      }
    }
    return null;
  }

  private static String message(Throwable failure) {
    String message = failure.getMessage();
    return message == null ? failure.toString() : message;
  }
}
