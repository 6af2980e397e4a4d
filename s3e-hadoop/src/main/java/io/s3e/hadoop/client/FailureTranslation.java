// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import io.s3e.client.RequestFailure;
import io.s3e.client.StoreAnswer;
import io.s3e.fetch.ObjectChangedException;
import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.reflect.Constructor;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.file.AccessDeniedException;
import java.util.Map;
import org.apache.hadoop.fs.s3a.Constants;
import org.apache.hadoop.fs.s3a.NoVersionAttributeException;
import org.apache.hadoop.fs.s3a.RemoteFileChangedException;
import org.apache.hadoop.fs.s3a.S3AUtils;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * Turns the core's exceptions into those that S3A's stream raises. S3A's own table decides the
 * class: it is shown the exception that its client would have thrown, a complete {@link
 * S3Exception} or an {@link SdkClientException} over the network's, and its answer is told again in
 * one line that names the read, the request, S3's words with the request ids, attempts and time.
 * The core's exception stays in the chain of causes.
 */
public final class FailureTranslation {
  private FailureTranslation() {}

  /**
   * @param failure what the core raised
   * @return what the caller is to see; {@code failure} itself if the reader was interrupted, or has
   *     come to the end of the file
   */
  public static IOException translate(FailedRead read, IOException failure) {
    if (failure instanceof InterruptedIOException && !(failure instanceof SocketTimeoutException)) {
      // Somebody ends the read: what became of its requests then is no failure of the store.
      return failure;
    }
    RequestFailure request = first(RequestFailure.class, failure);
    if (request == null) {
      return failure instanceof ObjectChangedException
          ? changed(read, failure)
          : unsent(read, failure);
    }
    if (request.getCause() instanceof NoVersionAttributeException noVersion) {
      return noVersion;
    }
    StoreAnswer refusal = refusal(request);
    // A 416 says less than the HEAD after it.
    boolean is412 = refusal != null && request.kind() == RequestFailure.Kind.CHANGED;
    if (failure instanceof ObjectChangedException && !is412) {
      return changed(read, failure);
    }
    if (refusal != null) {
      S3Exception shown = asS3Exception(refusal, failure);
      return new Translation(read, request, table(read, shown), shown).told();
    }
    SdkException thrown = thrown(request);
    if (thrown != null) {
      return new Translation(read, request, table(read, thrown), client(request.reason(), failure))
          .told();
    }
    String message = read + ": " + request.getMessage();
    return request.kind() == RequestFailure.Kind.CREDENTIALS
        ? (IOException) new AccessDeniedException(read.path(), null, message).initCause(failure)
        : new IOException(message, failure);
  }

  /** As of a client that could not be made. */
  private static IOException unsent(FailedRead read, IOException failure) {
    SdkException thrown = first(SdkException.class, failure);
    if (thrown != null) {
      SdkException cause = client(String.valueOf(failure.getMessage()), failure);
      return new Translation(read, null, table(read, thrown), cause).told();
    }
    return failure instanceof EOFException
        ? failure
        : new Translation(read, null, failure, failure).told();
  }

  private static IOException table(FailedRead read, SdkException shown) {
    return translate(read.operation(), read.path(), shown);
  }

  private static SdkException client(String message, IOException cause) {
    return SdkClientException.builder().message(message).cause(cause).build();
  }

  private static IOException changed(FailedRead read, IOException failure) {
    return new RemoteFileChangedException(
        read.path(), read.operation(), read + ": " + failure.getMessage(), failure);
  }

  /** The store's refusal; also the one of which a client has kept no more than its kind. */
  private static @Nullable StoreAnswer refusal(RequestFailure request) {
    int status =
        switch (request.kind()) {
          case THROTTLED -> 503;
          case SERVER -> 500;
          case FORBIDDEN -> 403;
          default -> 0;
        };
    return request.refusal() != null || status == 0
        ? request.refusal()
        : new StoreAnswer(status, null, request.reason(), Map.of(), null);
  }

  /** The exception that S3A's client throws without an answer; null if the SDK has none for it. */
  private static @Nullable SdkException thrown(RequestFailure request) {
    return switch (request.kind()) {
      case NETWORK, TLS ->
          request.getCause() instanceof SdkException thrown
              ? thrown
              : SdkClientException.builder()
                  .message(request.reason())
                  .cause(request.getCause())
                  .build();
      default -> first(SdkException.class, request);
    };
  }

  /**
   * S3A's exception for one of the SDK, but never an {@link EOFException}, which S3A has for a 416
   * and for a connection that ended: applications take it for the end of the file.
   */
  public static IOException translate(String operation, String path, SdkException thrown) {
    try {
      IOException theirs = S3AUtils.translateException(operation, path, thrown);
      if (!(theirs instanceof EOFException)) {
        return theirs;
      }
      String message = String.valueOf(theirs.getMessage());
      return thrown instanceof S3Exception refusal
          ? new IOException(message, refusal)
          : (IOException) new SocketException(message).initCause(thrown);
    } catch (RuntimeException e) {
      IOException failure = new IOException(operation + " on " + path + ": " + thrown, thrown);
      failure.addSuppressed(e);
      return failure;
    }
  }

  /** The exception that the SDK throws for such an answer. */
  private static S3Exception asS3Exception(StoreAnswer refusal, IOException cause) {
    SdkHttpResponse.Builder response = SdkHttpResponse.builder().statusCode(refusal.status());
    refusal.headers().forEach(response::putHeader);
    String message = refusal.message();
    AwsErrorDetails details =
        AwsErrorDetails.builder()
            .serviceName("S3")
            .errorCode(refusal.code())
            .errorMessage(message == null ? "status " + refusal.status() : message)
            .sdkHttpResponse(response.build())
            .build();
    return (S3Exception)
        S3Exception.builder()
            .statusCode(refusal.status())
            .requestId(refusal.requestId())
            .extendedRequestId(refusal.extendedRequestId())
            .awsErrorDetails(details)
            .message(details.errorMessage())
            .cause(cause)
            .build();
  }

  private static <T extends Throwable> @Nullable T first(Class<T> type, Throwable chain) {
    for (Throwable cause = chain; cause != null; cause = cause.getCause()) {
      if (type.isInstance(cause)) {
        return type.cast(cause);
      }
    }
    return null;
  }

  /**
   * One exception on its way to S3A's words for it.
   *
   * @param request null if none has failed
   * @param theirs of S3A's class for it
   * @param cause what becomes the cause
   */
  private record Translation(
      FailedRead read, @Nullable RequestFailure request, IOException theirs, Exception cause) {

    IOException told() {
      StoreAnswer refusal = request == null ? null : request.refusal();
      // S3A's exceptions for refusals end with the words of their cause, others do not.
      String code = refusal == null || refusal.code() == null ? "" : ": " + refusal.code();
      IOException told = again(subject() + code);
      String words = String.valueOf(cause.getMessage());
      if (String.valueOf(told.getMessage()).contains(words)) {
        return told;
      }
      return again(subject() + ": " + (request == null ? words : request.reason()));
    }

    private String subject() {
      if (request == null) {
        return read.toString();
      }
      RequestFailure.Effort effort = request.effort();
      String subject = read + ": " + request.subject() + (effort == null ? "" : ", " + effort);
      StoreAnswer refusal = request.refusal();
      if (refusal != null && RequestFailure.kindOf(refusal) == RequestFailure.Kind.REDIRECTED) {
        subject +=
            ", the bucket is in region " + refusal.region() + ", see " + Constants.AWS_REGION;
      }
      return subject;
    }

    /** An exception of the same class with another message; {@code theirs} if it takes none. */
    private IOException again(String message) {
      if (theirs.getClass() == AccessDeniedException.class) {
        return caused(new AccessDeniedException(read.path(), null, message));
      }
      if (theirs.getClass() == RemoteFileChangedException.class) {
        return new RemoteFileChangedException(read.path(), read.operation(), message, cause);
      }
      try {
        IOException made = make(theirs.getClass(), message);
        return made == null ? theirs : made;
      } catch (ReflectiveOperationException | RuntimeException e) {
        return theirs;
      }
    }

    /** By (path, message, cause), (message, cause) or (message), as S3A's and Java's classes do. */
    private @Nullable IOException make(Class<? extends IOException> type, String message)
        throws ReflectiveOperationException {
      Constructor<?> withCause = null;
      Constructor<?> plain = null;
      for (Constructor<?> constructor : type.getConstructors()) {
        Class<?>[] takes = constructor.getParameterTypes();
        boolean text = takes.length > 0 && takes[0] == String.class;
        boolean caused = text && takes[takes.length - 1].isInstance(cause);
        if (caused && takes.length == 3 && takes[1] == String.class) {
          return (IOException) constructor.newInstance(read.path(), message, cause);
        }
        if (caused && takes.length == 2) {
          withCause = constructor;
        } else if (text && takes.length == 1) {
          plain = constructor;
        }
      }
      if (withCause != null) {
        return (IOException) withCause.newInstance(message, cause);
      }
      return plain == null ? null : caused((IOException) plain.newInstance(message));
    }

    private IOException caused(IOException made) {
      made.initCause(cause);
      return made;
    }
  }
}
