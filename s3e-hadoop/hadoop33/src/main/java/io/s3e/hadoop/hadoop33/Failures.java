// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.hadoop33;

import com.amazonaws.SdkBaseException;
import com.amazonaws.services.s3.model.AmazonS3Exception;
import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.client.StoreAnswer;
import io.s3e.fetch.ObjectChangedException;
import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.ProtocolException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import org.apache.hadoop.fs.s3a.RemoteFileChangedException;
import org.apache.hadoop.fs.s3a.S3AUtils;
import org.jspecify.annotations.Nullable;

/**
 * S3A's exceptions for failures of S3E's reads, made by S3A's own table of them; where no answer
 * came, those of Java's network classes.
 */
final class Failures {
  private static final String OPERATION = "read";

  /** Java's exceptions for failures in transport, a subclass before its superclass. */
  private static final Map<Class<? extends IOException>, Function<String, IOException>> OF_JAVA =
      ofJava();

  private Failures() {}

  static IOException translate(String path, IOException failure) {
    if (isInterrupt(failure)) {
      return failure;
    }
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof ObjectChangedException) {
        return changed(path, failure);
      }
      if (cause instanceof SdkBaseException ofProvider) {
        return byTable(path, ofProvider);
      }
      StoreAnswer refusal = cause instanceof RequestFailure request ? request.refusal() : null;
      if (refusal != null) {
        return refusal.status() == 412
            ? changed(path, failure)
            : withCause(byTable(path, asSdks(refusal)), failure);
      }
      if (cause instanceof RequestFailure request && isTransport(request.kind())) {
        return transport(request, failure);
      }
    }
    return failure;
  }

  /** S3A's, but no end of the file, for which applications would take S3A's of a 416. */
  private static IOException byTable(String path, SdkBaseException thrown) {
    IOException theirs = S3AUtils.translateException(OPERATION, path, thrown);
    return theirs instanceof EOFException ? new IOException(theirs.getMessage(), thrown) : theirs;
  }

  /** Somebody ends the read: what became of its requests then is no failure of the store. */
  static boolean isInterrupt(IOException failure) {
    return failure instanceof InterruptedIOException
        && !(failure instanceof SocketTimeoutException);
  }

  private static boolean isTransport(Kind kind) {
    return kind == Kind.NETWORK || kind == Kind.TLS;
  }

  /** The read's failure under the class that Java has for the request's. */
  private static IOException transport(RequestFailure request, IOException failure) {
    for (Throwable cause = request.getCause(); cause != null; cause = cause.getCause()) {
      for (var each : OF_JAVA.entrySet()) {
        if (each.getKey().isInstance(cause)) {
          IOException told = each.getValue().apply(String.valueOf(failure.getMessage()));
          told.initCause(failure);
          return told;
        }
      }
    }
    return failure;
  }

  private static Map<Class<? extends IOException>, Function<String, IOException>> ofJava() {
    Map<Class<? extends IOException>, Function<String, IOException>> made = new LinkedHashMap<>();
    made.put(SocketTimeoutException.class, SocketTimeoutException::new);
    made.put(UnknownHostException.class, UnknownHostException::new);
    made.put(ConnectException.class, ConnectException::new);
    made.put(NoRouteToHostException.class, NoRouteToHostException::new);
    made.put(SocketException.class, SocketException::new);
    made.put(ProtocolException.class, ProtocolException::new);
    made.put(SSLHandshakeException.class, SSLHandshakeException::new);
    made.put(SSLException.class, SSLException::new);
    return made;
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

  /** Whether no answer has come. */
  static boolean isUnreached(Throwable failure) {
    Kind kind = kind(failure);
    return isInDoubt(failure) || (kind != null && isTransport(kind));
  }

  /** Whether S3E's client has given up before it has reached the store once. */
  static boolean isInDoubt(Throwable failure) {
    Throwable cause = failure;
    while (cause != null && !(cause instanceof FirstContact.Unreached)) {
      cause = cause.getCause();
    }
    return cause != null;
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
