// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import io.s3e.client.RequestFailure;
import io.s3e.client.StoreAnswer;
import io.s3e.client.library.CrtUnusableException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkClientException;

/** One line for a failure: the object, what went wrong, the HTTP status, what to try. */
final class FailureLine {
  private static final int REDIRECTED = 301;
  private static final int TEMPORARILY_REDIRECTED = 307;
  private static final int BAD_REQUEST = 400;
  private static final int UNAUTHORIZED = 401;
  private static final int FORBIDDEN = 403;
  private static final int NOT_FOUND = 404;
  private static final int CHANGED = 412;
  private static final int OUT_OF_RANGE = 416;

  private FailureLine() {}

  static String of(Throwable failure) {
    List<Throwable> chain = chain(failure);
    // Only the commands that say of which object a failure is have the options that the hints name.
    String line =
        first(chain, TransferException.class)
            .map(e -> e.getMessage() + ": " + reason(chain))
            .orElseGet(() -> plain(failure));
    return line.replaceAll("\\s*\\R\\s*", " ");
  }

  private static List<Throwable> chain(Throwable failure) {
    Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    List<Throwable> chain = new ArrayList<>();
    for (Throwable at = failure; at != null && seen.add(at); at = at.getCause()) {
      chain.add(at);
    }
    return chain;
  }

  private static <T extends Throwable> Optional<T> first(List<Throwable> chain, Class<T> type) {
    return chain.stream().filter(type::isInstance).map(type::cast).findFirst();
  }

  private static String reason(List<Throwable> chain) {
    Optional<AwsServiceException> refusal = first(chain, AwsServiceException.class);
    if (refusal.isPresent()) {
      AwsErrorDetails details = refusal.get().awsErrorDetails();
      String code = details == null ? null : details.errorCode();
      String message = details == null ? refusal.get().getMessage() : details.errorMessage();
      return refused(refusal.get().statusCode(), code, message);
    }
    Optional<RequestFailure> request = first(chain, RequestFailure.class);
    StoreAnswer refused = request.map(RequestFailure::refusal).orElse(null);
    if (refused != null) {
      String said = refused.message() == null ? request.get().getMessage() : refused.message();
      return refused(refused.status(), refused.code(), said);
    }
    Optional<FileSystemException> file = first(chain, FileSystemException.class);
    if (file.isPresent()) {
      return local(file.get());
    }
    return network(chain);
  }

  private static String refused(int status, @Nullable String code, @Nullable String message) {
    String said = code == null ? String.valueOf(message) : code + ", " + message;
    String http = " (HTTP " + status + ")";
    return switch (status) {
      case NOT_FOUND ->
          "NoSuchBucket".equals(code)
              ? "no such bucket" + http
              : "no such object, or no such bucket" + http;
      case UNAUTHORIZED, FORBIDDEN ->
          "access denied"
              + (code == null ? "" : ": " + said)
              + http
              + "; look at the credentials (--profile, AWS_ACCESS_KEY_ID), or try --anonymous for a"
              + " public bucket";
      case CHANGED -> "exists, or has changed meanwhile" + http + "; for put --force replaces it";
      case OUT_OF_RANGE -> "the range starts behind the object's end" + http;
      case REDIRECTED, TEMPORARILY_REDIRECTED, BAD_REQUEST ->
          said + http + "; perhaps the bucket is in another --region";
      default -> said + http;
    };
  }

  private static String local(FileSystemException e) {
    String reason = e.getReason();
    if (reason == null && e instanceof NoSuchFileException) {
      reason = "no such file or directory";
    } else if (reason == null && e instanceof AccessDeniedException) {
      reason = "permission denied";
    }
    return e.getFile() + ": " + (reason == null ? e.toString() : reason);
  }

  private static String network(List<Throwable> chain) {
    Throwable innermost = chain.get(chain.size() - 1);
    String said = innermost.getMessage();
    String text = said == null ? innermost.toString() : said;
    if (first(chain, UnknownHostException.class).isPresent() || text.contains("AWS_IO_DNS")) {
      return "the store's host is unknown: " + text + "; look at --endpoint and --region";
    }
    if (text.contains("AWS_IO_SOCKET_CLOSED")) {
      return "the store closes the connection: "
          + text
          + "; look at the scheme of --endpoint: https is for a port that speaks TLS";
    }
    if (first(chain, ConnectException.class).isPresent() || text.contains("AWS_IO_SOCKET")) {
      return "the store cannot be reached: " + text + "; look at --endpoint";
    }
    if (first(chain, SSLException.class).isPresent() || text.contains("AWS_IO_TLS")) {
      return "TLS fails: " + text + "; look at --ca-bundle and the scheme of --endpoint";
    }
    if (text.contains("no answer in")) {
      // The CRT says so, too, of a certificate that it does not trust.
      return "the store does not answer: "
          + text
          + "; look at --endpoint, and for https at --ca-bundle";
    }
    if (text.contains("Unable to load credentials")) {
      return "no credentials found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or use"
          + " --profile or --anonymous";
    }
    if (text.contains("Unable to load region")) {
      return "no region found; use --region, or set AWS_REGION";
    }
    return plain(
        chain.stream()
            .filter(e -> !(e instanceof TransferException))
            .findFirst()
            .orElse(innermost));
  }

  /** The message of a failure; with its type where the message was not meant for users. */
  private static String plain(Throwable failure) {
    String message = failure.getMessage();
    boolean meant =
        failure instanceof IOException
            || failure instanceof SdkClientException
            || failure instanceof CrtUnusableException;
    return meant && message != null ? message : failure.toString();
  }
}
