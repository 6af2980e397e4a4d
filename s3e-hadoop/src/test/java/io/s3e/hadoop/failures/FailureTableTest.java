// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.failures;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.client.RequestFailure;
import io.s3e.hadoop.failures.FailingReads.Client;
import io.s3e.hadoop.failures.FailingReads.Style;
import io.s3e.testing.Slow;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.fs.s3a.Constants;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.awscore.exception.AwsServiceException;

/**
 * How a read fails: every refusal of the store and every failure of the network, by every client
 * and every way to read, beside S3A's classic stream in the same run. The class of the exception is
 * classic's, and for refusals so are status, error code and request ids; {@link #DEVIATIONS} says
 * where and why not.
 */
@Slow
@Tag("one-hadoop")
@Tag("waits")
class FailureTableTest {
  /** How much of a refusal reaches the reader. */
  private enum Told {
    ALL,
    STATUS_AND_IDS,
    CLASS
  }

  /**
   * A reviewed difference to classic.
   *
   * @param line how the case's name begins
   * @param client whose; null for every client
   * @param type simple name of the class that S3E gives; several with a bar between them
   * @param told what is told of a refusal
   * @param reason why that is right
   */
  private record Deviation(
      String line, @Nullable Client client, String type, Told told, String reason) {}

  private static final String LOOKS_LIKE_THE_END =
      "classic's class is an EOFException, or none: applications take it for the end of the file";
  private static final String NO_APACHE_TYPE =
      "classic's class belongs to its HTTP client or is an EOFException, which looks like the end";
  private static final String CLIENT_ON_TRIAL =
      "as above, and while the CRT is on trial S3A's client reads, whose class is classic's";
  private static final String TRUST =
      "classic's class depends on which exception is innermost; this one says that it is TLS";
  private static final String FORGETS_ADDRESS =
      "the CRT's resolver drops an address that refuses; who asks meanwhile hears that there is"
          + " none";

  private static final List<Deviation> DEVIATIONS =
      List.of(
          new Deviation("416", null, "IOException", Told.ALL, LOOKS_LIKE_THE_END),
          ofNetwork("end before", Client.S3A, "SocketException", LOOKS_LIKE_THE_END),
          ofNetwork(
              "end ", Client.CRT, "SocketException|ConnectionClosedException", CLIENT_ON_TRIAL),
          ofNetwork("end ", Client.CRT_COPIED, "SocketException", NO_APACHE_TYPE),
          ofNetwork(
              "refused", Client.CRT, "ConnectException|UnknownHostException", FORGETS_ADDRESS),
          ofNetwork(
              "refused",
              Client.CRT_COPIED,
              "ConnectException|UnknownHostException",
              FORGETS_ADDRESS),
          ofNetwork("untrusted", Client.CRT, "SSLHandshakeException", TRUST),
          ofNetwork("untrusted", Client.CRT_COPIED, "SSLHandshakeException", TRUST));

  private static Deviation ofNetwork(String line, Client client, String type, String reason) {
    return new Deviation(line, client, type, Told.CLASS, reason);
  }

  @TempDir static Path dir;
  private static FailingReads reads;

  /** Failures that may pass are failures when reads have waited for nothing. */
  @BeforeAll
  @Timeout(300)
  static void start() throws Exception {
    reads = new FailingReads(dir, FailureCase.all());
  }

  @AfterAll
  static void stop() throws Exception {
    reads.close();
  }

  @TestFactory
  Stream<DynamicContainer> everyClientFailsAsClassicDoes() {
    return Stream.of(Client.values())
        .filter(client -> client != Client.CLASSIC)
        .map(client -> DynamicContainer.dynamicContainer(client.name(), lines(client)));
  }

  private Stream<DynamicTest> lines(Client client) {
    List<DynamicTest> tests = new ArrayList<>();
    for (FailureCase line : FailureCase.all()) {
      for (Style style : Style.values()) {
        tests.add(DynamicTest.dynamicTest(line + ", " + style, () -> compare(client, line, style)));
      }
    }
    return tests.stream();
  }

  private void compare(Client client, FailureCase line, Style style) throws Exception {
    Throwable theirs = reads.failure(Client.CLASSIC, line, style);
    Throwable ours = reads.failure(client, line, style);
    String seen = client + " " + line + " " + style + "\n  classic: " + theirs + "\n  S3E: " + ours;
    Deviation deviation = deviation(client, line);
    assertThat(ours.getClass().getSimpleName())
        .as(seen)
        .isIn(
            deviation == null
                ? List.of(theirs.getClass().getSimpleName())
                : List.of(deviation.type().split("\\|")));
    assertThat(ours).as(seen).isInstanceOf(IOException.class).isNotInstanceOf(EOFException.class);
    assertThat(first(RequestFailure.class, ours)).as(seen).isNotNull();
    String message = String.valueOf(ours.getMessage());
    assertThat(message).as(seen).doesNotContain("\n").contains(line.key());
    assertThat(messages(ours))
        .as("one of the causes tells of the latest GETs: " + seen)
        .filteredOn(cause -> cause.contains("; its latest GETs: (1) "))
        .isNotEmpty();
    Told told = deviation == null ? told(client, line) : deviation.told();
    boolean isOnce = line.isFinal() && told != Told.CLASS;
    if (isOnce) {
      boolean goesToRegion = line.isRegionNamed() && goesToRegions(client) && style == Style.READ;
      assertThat(message).as(seen).contains(goesToRegion ? " 2 attempts in " : " 1 attempt in ");
    } else {
      assertThat(message).as(seen).containsPattern("\\d attempts? in ");
    }
    if (line.isRefusal() && told != Told.CLASS) {
      boolean words = told == Told.ALL && line.code() != null;
      sameAnswer(
          seen,
          words,
          first(AwsServiceException.class, theirs),
          first(AwsServiceException.class, ours));
      assertThat(count(message, FailureCase.WORDS)).as(seen).isEqualTo(words ? 1 : 0);
      assertThat(message).as(seen).contains(FailureCase.REQUEST_ID, FailureCase.EXTENDED_ID);
    }
  }

  /** The CRT begins a second attempt of its own after these, and forgets the first one's words. */
  private static Told told(Client client, FailureCase line) {
    boolean again =
        line.status() >= 500 && line.status() != 501
            || "RequestTimeout".equals(line.code())
            || "RequestTimeTooSkewed".equals(line.code());
    return isCrt(client) && again ? Told.STATUS_AND_IDS : Told.ALL;
  }

  /** The core's CRT client does; that of a file system where S3A's own does, since 3.4.2. */
  private static boolean goesToRegions(Client client) {
    return switch (client) {
      case CRT_COPIED -> true;
      case CRT ->
          Arrays.stream(Constants.class.getFields())
              .anyMatch(key -> key.getName().equals("AWS_S3_CROSS_REGION_ACCESS_ENABLED"));
      case CLASSIC, S3A -> false;
    };
  }

  private static boolean isCrt(Client client) {
    return client == Client.CRT || client == Client.CRT_COPIED;
  }

  private static @Nullable Deviation deviation(Client client, FailureCase line) {
    return DEVIATIONS.stream()
        .filter(deviation -> deviation.client() == null || deviation.client() == client)
        .filter(deviation -> line.name().startsWith(deviation.line()))
        .findFirst()
        .orElse(null);
  }

  /** Classic has no answer to tell where it takes 416 for the end of the file. */
  private static void sameAnswer(
      String seen,
      boolean withCode,
      @Nullable AwsServiceException theirs,
      @Nullable AwsServiceException ours) {
    assertThat(ours).as(seen).isNotNull();
    if (theirs == null) {
      return;
    }
    assertThat(ours.statusCode()).as(seen).isEqualTo(theirs.statusCode());
    assertThat(ours.requestId()).as(seen).isEqualTo(theirs.requestId());
    assertThat(ours.extendedRequestId()).as(seen).isEqualTo(theirs.extendedRequestId());
    if (withCode) {
      assertThat(ours.awsErrorDetails().errorCode())
          .as(seen)
          .isEqualTo(theirs.awsErrorDetails().errorCode());
    }
  }

  private static List<String> messages(Throwable chain) {
    List<String> messages = new ArrayList<>();
    for (Throwable cause = chain; cause != null; cause = cause.getCause()) {
      messages.add(String.valueOf(cause.getMessage()));
    }
    return messages;
  }

  private static int count(String text, String part) {
    return (text.length() - text.replace(part, "").length()) / part.length();
  }

  private static <T> @Nullable T first(Class<T> type, Throwable chain) {
    for (Throwable cause = chain; cause != null; cause = cause.getCause()) {
      if (type.isInstance(cause)) {
        return type.cast(cause);
      }
    }
    return null;
  }
}
