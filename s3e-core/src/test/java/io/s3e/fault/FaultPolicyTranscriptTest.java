// SPDX-License-Identifier: Apache-2.0
package io.s3e.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.client.Remedy;
import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.client.StoreAnswer;
import io.s3e.fault.FaultPolicy.SendAgain;
import java.io.EOFException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * What follows failures, one after the other without progress. A line has the failures, which
 * repeat for as long as there are verdicts, and the verdicts: the pause before the request is sent
 * again at the most that chance makes of it, {@code half} of what is missing or all, and what is
 * repaired before. Base 100 ms, cap 2 s.
 */
class FaultPolicyTranscriptTest {
  private static final FaultPolicy POLICY =
      new FaultPolicy(Duration.ofMillis(100), Duration.ofSeconds(2));

  private static final boolean HAS_ANSWERED = true;
  private static final boolean NEVER_ANSWERED = false;

  private static final List<Throwable> CAUSES =
      List.of(
          new SocketException(),
          new SocketTimeoutException(),
          new ConnectException(),
          new NoRouteToHostException(),
          new BindException(),
          new UnknownHostException(),
          new SSLException("handshake"),
          new EOFException("end of the body"));

  private static void assertTranscript(boolean hasAnswered, String expected) {
    StringBuilder found = new StringBuilder();
    for (String line : expected.lines().toList()) {
      String[] sides = line.split(" -> ");
      String[] failures = sides[0].split(" then ");
      int steps = sides[1].split(", ").length;
      found.append(sides[0]).append(" -> ");
      History history = History.NONE;
      for (int step = 0; step < steps; step++) {
        RequestFailure failure = failure(failures[Math.min(step, failures.length - 1)].trim());
        history = history.failed(failure, hasAnswered);
        SendAgain again = POLICY.after(failure, history, 1);
        found.append(step == 0 ? "" : ", ").append(told(again));
        if (again != null) {
          history = history.after(failure, again.remedy());
        }
      }
      found.append('\n');
    }
    assertThat(found.toString()).isEqualTo(expected);
  }

  /** {@code KIND}, {@code KIND Cause}, or {@code KIND status} with or without a code. */
  private static RequestFailure failure(String text) {
    String[] words = text.split(" ");
    Kind kind = Kind.valueOf(words[0]);
    if (words.length > 1 && Character.isDigit(words[1].charAt(0))) {
      String code = words.length > 2 ? words[2] : null;
      StoreAnswer answer = new StoreAnswer(Integer.parseInt(words[1]), code, null, Map.of(), null);
      RequestFailure failure = RequestFailure.refused("GET", answer, null);
      assertThat(failure.kind()).as(text).isEqualTo(kind);
      return failure;
    }
    Throwable cause = words.length > 1 ? cause(words[1]) : null;
    return new RequestFailure(kind, "GET", "scripted", cause);
  }

  private static @Nullable Throwable cause(String name) {
    return CAUSES.stream()
        .filter(cause -> cause.getClass().getSimpleName().equals(name))
        .findFirst()
        .orElseThrow();
  }

  private static String told(@Nullable SendAgain again) {
    if (again == null) {
      return "fail";
    }
    long millis = Duration.ofNanos(again.pauseNanos()).toMillis();
    return (millis == 0 ? "now" : millis + " ms")
        + (again.isHalf() ? " half" : "")
        + (again.remedy() == Remedy.NONE ? "" : " " + again.remedy());
  }

  @Test
  void aStoreThatHasAnsweredMayComeBack() {
    assertTranscript(
        HAS_ANSWERED,
        """
        THROTTLED 503 SlowDown -> now, 500 ms, 1000 ms, 2000 ms, 2000 ms
        THROTTLED 429 -> now, 500 ms, 1000 ms
        SERVER 500 InternalError -> now, 100 ms, 200 ms, 400 ms, 800 ms, 1600 ms, 2000 ms, 2000 ms
        SERVER 502 -> now, 100 ms, 200 ms
        SERVER 504 -> now, 100 ms, 200 ms
        SERVER 408 -> now, 100 ms, 200 ms
        SERVER 400 RequestTimeout -> now, 100 ms, 200 ms
        SERVER 501 NotImplemented -> fail
        SERVER 505 -> fail
        NETWORK SocketException -> now half, 100 ms half, 200 ms half
        NETWORK SocketTimeoutException -> now half, 100 ms half, 200 ms half
        NETWORK ConnectException -> now, 100 ms, 200 ms
        NETWORK NoRouteToHostException -> now, 100 ms
        NETWORK BindException -> now, 100 ms
        NETWORK UnknownHostException -> now, 100 ms, 200 ms
        NETWORK EOFException -> now half, 100 ms half, 200 ms half
        NETWORK -> now, 100 ms
        CANCELLED -> now, 100 ms, 200 ms, 400 ms
        REJECTED -> now, 100 ms, 200 ms, 400 ms, 800 ms, 1600 ms, 2000 ms, fail
        REJECTED then NETWORK then REJECTED -> now, 100 ms, 200 ms, 400 ms, 800 ms, 1600 ms, 2000 ms, 2000 ms, 2000 ms, fail
        NO_ETAG -> fail
        TLS SSLException -> now, 100 ms, 200 ms, 400 ms
        CREDENTIALS -> now CREDENTIALS, 100 ms CREDENTIALS, 200 ms CREDENTIALS, 400 ms CREDENTIALS
        """);
  }

  @Test
  void trustAndCredentialsThatWereNeverRightAreWrong() {
    assertTranscript(
        NEVER_ANSWERED,
        """
        TLS SSLException -> now, fail
        CREDENTIALS -> now CREDENTIALS, 100 ms CREDENTIALS, fail
        NETWORK ConnectException -> now, 100 ms, 200 ms, 400 ms, 800 ms, 1600 ms, 2000 ms, 2000 ms
        NETWORK UnknownHostException -> now, 100 ms, 200 ms
        THROTTLED 503 -> now, 500 ms, 1000 ms
        """);
  }

  @Test
  void someRefusalsAskForARemedyOnce() {
    assertTranscript(
        HAS_ANSWERED,
        """
        OTHER 400 ExpiredToken -> now CREDENTIALS, fail
        FORBIDDEN 403 ExpiredTokenException -> now CREDENTIALS, fail
        FORBIDDEN 403 InvalidAccessKeyId -> now CREDENTIALS, fail
        OTHER 400 InvalidToken -> now CREDENTIALS, fail
        OTHER 400 TokenRefreshRequired -> now CREDENTIALS, fail
        OTHER 400 -> now CREDENTIALS, fail
        FORBIDDEN 401 -> now CREDENTIALS, fail
        FORBIDDEN 403 -> now CREDENTIALS, fail
        FORBIDDEN 403 RequestTimeTooSkewed -> now CLOCK, fail
        FORBIDDEN 403 RequestExpired -> now CLOCK, fail
        FORBIDDEN 403 ExpiredToken then FORBIDDEN 403 RequestTimeTooSkewed -> now CREDENTIALS, now CLOCK, fail
        FORBIDDEN 403 ExpiredToken then THROTTLED 503 then FORBIDDEN 403 ExpiredToken -> now CREDENTIALS, 500 ms, fail
        CREDENTIALS then CREDENTIALS then FORBIDDEN 403 ExpiredToken -> now CREDENTIALS, 100 ms CREDENTIALS, now CREDENTIALS, fail
        """);
  }

  @Test
  void whatTheStoreMeansIsAnErrorAtOnce() {
    assertTranscript(
        HAS_ANSWERED,
        """
        FORBIDDEN 403 AccessDenied -> fail
        FORBIDDEN -> fail
        REDIRECTED 301 PermanentRedirect -> fail
        MOVED -> now, now
        NOT_FOUND 404 NoSuchKey -> fail
        CHANGED 412 -> fail
        OUT_OF_RANGE 416 -> fail
        OTHER 400 InvalidArgument -> fail
        OTHER 405 -> fail
        OTHER -> fail
        NOT_LENT -> fail
        """);
  }

  @Test
  void everyKindHasAnOutcome() {
    for (Kind kind : Kind.values()) {
      RequestFailure failure = new RequestFailure(kind, "GET", "scripted", null);
      Gate.Outcome expected =
          switch (kind) {
            case THROTTLED -> Gate.Outcome.THROTTLED;
            case NETWORK, SERVER, TLS -> Gate.Outcome.UNAVAILABLE;
            // Nothing has been sent, or nothing was heard of it.
            case CANCELLED, CREDENTIALS, NOT_LENT, OTHER -> Gate.Outcome.CANCELLED;
            case MOVED -> Gate.Outcome.MOVED;
            default -> Gate.Outcome.ANSWERED;
          };
      assertThat(FaultPolicy.outcome(failure)).as("%s", kind).isEqualTo(expected);
    }
    SocketTimeoutException silence = new SocketTimeoutException("stalled");
    assertThat(FaultPolicy.outcome(new RequestFailure(Kind.NETWORK, "GET", "stalled", silence)))
        .isEqualTo(Gate.Outcome.CANCELLED);
    for (String ofRequest :
        new String[] {"OTHER 400 InvalidArgument", "SERVER 409", "SERVER 444"}) {
      assertThat(FaultPolicy.outcome(failure(ofRequest))).isEqualTo(Gate.Outcome.ANSWERED);
    }
    for (String ofStore : new String[] {"SERVER 400 RequestTimeout", "SERVER 408", "SERVER 500"}) {
      assertThat(FaultPolicy.outcome(failure(ofStore))).isEqualTo(Gate.Outcome.UNAVAILABLE);
    }
  }

  @Test
  void chanceTakesAtMostHalfOfAPause() {
    RequestFailure failure = failure("SERVER 500");
    History third = new History(3, 0, Set.of(), HAS_ANSWERED);
    List<Long> millis =
        Stream.of(0.0, 0.5, 1.0)
            .map(jitter -> POLICY.after(failure, third, jitter))
            .map(again -> Duration.ofNanos(again.pauseNanos()).toMillis())
            .toList();
    assertThat(millis).containsExactly(100L, 150L, 200L);
  }

  /** The shift of a long outage overflows nothing, and a policy without pauses does not spin. */
  @Test
  void pausesStayBetweenAMillisecondAndTheCap() {
    for (FaultPolicy policy :
        List.of(
            POLICY,
            new FaultPolicy(Duration.ZERO, Duration.ZERO),
            new FaultPolicy(Duration.ofDays(1), Duration.ofDays(300)))) {
      for (int failures : new int[] {2, 3, 10, 60, 70, 100_000, Integer.MAX_VALUE}) {
        History history = new History(failures, 0, Set.of(), HAS_ANSWERED);
        for (String kind : List.of("THROTTLED", "CANCELLED", "TLS")) {
          assertThat(policy.after(failure(kind), history, 1).pauseNanos())
              .as("%s after %d", kind, failures)
              .isBetween(1_000_000L, Math.max(1_000_000L, policy.cap().toNanos()));
        }
      }
    }
  }
}
