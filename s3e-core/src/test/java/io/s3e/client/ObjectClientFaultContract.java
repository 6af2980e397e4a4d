// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.given.SdkCredentials;
import io.s3e.fault.FaultPolicy;
import io.s3e.fault.History;
import io.s3e.testing.Eventually;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.RecordingHandler;
import io.s3e.testing.S3ProxyServer;
import io.s3e.testing.Slow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/**
 * The conduct of every {@link ObjectClient} with a server or a network that misbehaves, and the
 * requests it sends. Subclasses say how to make the client.
 */
@Slow
abstract class ObjectClientFaultContract {
  private static final ClientMemory MEMORY = new ClientMemory(48L << 20, 1 << 20, 64 << 10);
  private static final ObjectRef OBJECT = new ObjectRef("bucket", "object");
  private static final int LENGTH = 100_000;

  private final byte[] content = new byte[1_000_000];
  private HostileS3Server server;
  private String etag;
  private ObjectClient client;

  /** Opens the client under test. */
  protected abstract ObjectClient open(AwsClientSettings settings, ClientMemory memory);

  /** How many requests one failing GET may send. */
  protected int requestsPerFailure() {
    return 1;
  }

  @BeforeEach
  void start() throws Exception {
    new Random(20260807).nextBytes(content);
    server = HostileS3Server.start();
    etag = server.put(OBJECT, content);
    client = open(settings().build(), MEMORY);
  }

  @AfterEach
  void stop() throws Exception {
    client.close();
    server.close();
  }

  private AwsClientSettings.Builder settings() {
    return AwsClientSettings.builder()
        .endpoint(server.endpoint())
        .region(S3ProxyServer.REGION)
        .pathStyle(true)
        .credentials(
            new SdkCredentials(
                StaticCredentialsProvider.create(AwsBasicCredentials.create("access", "secret"))))
        .connectTimeout(Duration.ofSeconds(2))
        .requestTimeout(Duration.ofSeconds(20))
        .stallTimeout(Duration.ofSeconds(2));
  }

  @ParameterizedTest
  @CsvSource({
    "503, SlowDown, THROTTLED",
    "503, ServiceUnavailable, THROTTLED",
    "429, TooManyRequests, THROTTLED",
    "500, InternalError, SERVER",
    "502, BadGateway, SERVER",
    "408, RequestTimeout, SERVER",
    "400, RequestTimeout, SERVER",
    "400, InvalidArgument, OTHER",
    "401, Unauthorized, FORBIDDEN",
    "403, AccessDenied, FORBIDDEN",
    "404, NoSuchKey, NOT_FOUND",
    "404, NoSuchBucket, NOT_FOUND",
    "412, PreconditionFailed, CHANGED",
    "416, InvalidRange, OUT_OF_RANGE"
  })
  void saysWhatTheStoreSaid(int status, String code, Kind kind) throws Exception {
    server.always(Fault.status(status, code));
    RecordingHandler handler = get();
    RequestFailure failure = handler.awaitFailure();
    assertThat(failure.kind()).isEqualTo(kind);
    assertThat(server.gets())
        .as("requests: the fetch layer owns retries")
        .hasSizeBetween(1, requestsPerFailure());
    // What the client has written last, the server may not have read yet.
    Eventually.awaitTrue("requests told", () -> handler.sent() == server.gets().size());
  }

  /** A store may name the request by one id of two, or in the error's document alone. */
  @ParameterizedTest
  @CsvSource({"503, SlowDown", "500, InternalError", "504, GatewayTimeout", "403, AccessDenied"})
  void eachIdOfTheRequestIsTold(int status, String code) throws Exception {
    for (String header : List.of("x-amz-request-id", "x-amz-id-2")) {
      server.always(Fault.status(status, code).and(Fault.header(header, "told")));
      RequestFailure failure = get().awaitFailure();
      assertThat(failure.refusal().headers()).containsEntry(header, "told");
      assertThat(failure.getMessage()).contains("told");
    }
    server.always(Fault.status(status, code));
    RequestFailure failure = get().awaitFailure();
    if (status < 500) {
      assertThat(failure.refusal().requestId()).isEqualTo("scripted");
    }
  }

  /** A store's word for slow down counts, whatever status it comes with. */
  @Test
  void slowDownIsThrottlingWithAnyStatus() throws Exception {
    server.always(Fault.status(500, "SlowDown"));
    RequestFailure failure = get().awaitFailure();
    assertThat(failure.kind()).isEqualTo(Kind.THROTTLED);
    assertThat(failure.refusal().code()).isEqualTo("SlowDown");
  }

  @Test
  void brokenConnectionsAreNetworkFailures() throws Exception {
    List<Fault> faults =
        List.of(
            Fault.resetAtOnce(),
            Fault.endAtOnce(),
            Fault.resetAfter(0),
            Fault.resetAfter(50_000),
            Fault.endAfter(0),
            Fault.endAfter(50_000),
            Fault.endAfter(LENGTH - 1));
    for (int i = 0; i < faults.size(); i++) {
      server.always(faults.get(i));
      RecordingHandler handler = get();
      RequestFailure failure = handler.awaitFailure();
      assertThat(failure.kind())
          .as("fault %s: %s", i, failure.getMessage())
          .isEqualTo(Kind.NETWORK);
      byte[] received = handler.bytes();
      assertThat(received).isEqualTo(Arrays.copyOf(content, received.length));
    }
    assertThat(server.gets()).hasSizeBetween(faults.size(), faults.size() * requestsPerFailure());
    server.heal();
    assertThat(get().awaitDone()).isEqualTo(Arrays.copyOf(content, LENGTH));
  }

  @Test
  void stallsAreNetworkFailures() throws Exception {
    server.always(Fault.stallAfter(10_000));
    RecordingHandler midBody = get();
    assertThat(midBody.awaitFailure().kind()).isEqualTo(Kind.NETWORK);
    server.always(Fault.stallAtOnce());
    assertThat(get().awaitFailure().kind()).isEqualTo(Kind.NETWORK);
  }

  @Test
  void aRefusedConnectionIsANetworkFailure() throws Exception {
    AwsClientSettings nowhere = settings().endpoint(HostileS3Server.refusingEndpoint()).build();
    try (ObjectClient other = open(nowhere, MEMORY)) {
      RecordingHandler handler = new RecordingHandler();
      other.get(request(new ByteRange(0, 10), Map.of()), handler);
      assertThat(handler.awaitFailure().kind()).isEqualTo(Kind.NETWORK);
    }
  }

  @Test
  void bytesInPiecesAreJoined() throws Exception {
    server.next(Fault.trickle(1, Duration.ZERO));
    assertThat(get(new ByteRange(5, 3005)).awaitDone())
        .isEqualTo(Arrays.copyOfRange(content, 5, 3005));
    server.next(Fault.trickle(777, Duration.ofMillis(1)));
    assertThat(get().awaitDone()).isEqualTo(Arrays.copyOf(content, LENGTH));
  }

  @Test
  void aLateAnswerArrives() throws Exception {
    server.next(Fault.delay(Duration.ofMillis(500)));
    assertThat(get().awaitDone()).isEqualTo(Arrays.copyOf(content, LENGTH));
  }

  @Test
  void theWholeObjectIsNotTakenForTheRange() throws Exception {
    expectHeadOrRejection(
        Fault.wholeObject(), new ByteRange(1000, 2000), head -> head.status() == 200);
  }

  @Test
  void headersThatDoNotFitAreShownOrRefused() throws Exception {
    ByteRange range = new ByteRange(1000, 2000);
    expectHeadOrRejection(Fault.withoutContentRange(), range, head -> head.contentRange() == null);
    expectHeadOrRejection(
        Fault.unknownTotal(), range, head -> "bytes 1000-1999/*".equals(head.contentRange()));
    expectHeadOrRejection(
        Fault.shifted(500), range, head -> head.contentRange().startsWith("bytes 1500-"));
    expectHeadOrRejection(
        Fault.shifted(5000), range, head -> head.contentRange().startsWith("bytes 6000-"));
    expectHeadOrRejection(
        Fault.contentRange("nonsense"), range, head -> "nonsense".equals(head.contentRange()));
    // Always and not next: the CRT may still send one of the refused requests again.
    server.always(Fault.etag("\"other\""));
    assertThat(headOf(range).etag()).isEqualTo("\"other\"");
    server.always(Fault.header("Content-Encoding", "gzip"));
    assertThat(headOf(range).contentEncoding()).isEqualTo("gzip");
    server.always(Fault.header("x-amz-version-id", "v7"));
    assertThat(headOf(range).versionId()).isEqualTo("v7");
    server.heal();
  }

  /** The CRT reads none; what it is then told is what another client can read. */
  @Test
  void anAnswerWithoutAnEtagIsShownOrRefusedForGood() throws Exception {
    ByteRange range = new ByteRange(1000, 2000);
    for (boolean lend : new boolean[] {false, client.limits().lends()}) {
      server.always(Fault.etag(null));
      RecordingHandler handler = get(range, lend);
      RequestFailure failure = handler.awaitEnd();
      if (failure == null) {
        assertThat(handler.awaitHead().etag()).isNull();
        assertThat(handler.bytes()).isEqualTo(Arrays.copyOfRange(content, 1000, 2000));
      } else {
        assertThat(failure.kind()).isEqualTo(Kind.NO_ETAG);
        assertThat(failure).hasMessageContaining("no ETag, and the AWS CRT reads none without");
        assertThat(handler.bytes()).isEmpty();
      }
    }
  }

  @Test
  void aShortAnswerShowsInTheBytes() throws Exception {
    server.always(Fault.shorter(400));
    RecordingHandler handler = get(new ByteRange(0, 1000));
    RequestFailure failure = handler.awaitEnd();
    assertThat(handler.bytes().length).isLessThanOrEqualTo(600);
    assertThat(failure == null || mayPass(failure)).isTrue();
  }

  @Test
  void aRangePastTheEndOfTheObjectBringsWhatIsThere() throws Exception {
    int start = content.length - LENGTH;
    for (boolean lend : new boolean[] {false, client.limits().lends()}) {
      RecordingHandler handler = get(new ByteRange(start, content.length + 10), lend);
      assertThat(handler.awaitDone()).isEqualTo(Arrays.copyOfRange(content, start, content.length));
      assertThat(handler.awaitHead().contentRange())
          .isEqualTo("bytes " + start + "-" + (content.length - 1) + "/" + content.length);
    }
  }

  @Test
  void aLongAnswerShowsInTheBytesOrFails() throws Exception {
    for (boolean lend : new boolean[] {false, client.limits().lends()}) {
      server.always(Fault.longer(300_000));
      RecordingHandler handler = get(new ByteRange(0, 1000), lend);
      RequestFailure failure = handler.awaitEnd();
      assertThat(failure != null || handler.bytes().length != 1000).isTrue();
      assertThat(failure == null || mayPass(failure)).isTrue();
    }
  }

  @Test
  void bytesPastTheAnnouncedEndAreNotTaken() throws Exception {
    server.heal();
    server.next(Fault.overflow(5000));
    RecordingHandler handler = get(new ByteRange(0, 1000));
    if (handler.awaitEnd() == null) {
      assertThat(handler.bytes()).isEqualTo(Arrays.copyOf(content, 1000));
    }
    // The connection is spoilt: a client notices when it uses it again, or has dropped it.
    RecordingHandler after = get();
    RequestFailure failure = after.awaitEnd();
    if (failure == null) {
      assertThat(after.bytes()).isEqualTo(Arrays.copyOf(content, LENGTH));
    } else {
      assertThat(mayPass(failure)).as("%s", failure).isTrue();
    }
  }

  @Test
  void aBodyWithoutLengthArrives() throws Exception {
    server.next(Fault.chunked());
    RecordingHandler handler = get(new ByteRange(0, 1000));
    RequestFailure failure = handler.awaitEnd();
    if (failure == null) {
      assertThat(handler.bytes()).isEqualTo(Arrays.copyOf(content, 1000));
    } else {
      assertThat(mayPass(failure)).as("%s", failure).isTrue();
    }
  }

  @Test
  void cancelEndsAStalledExchangeSoon() throws Exception {
    ObjectClient patient = openPatient();
    for (Fault fault : List.of(Fault.stallAfter(10_000), Fault.stallAtOnce())) {
      server.forgetRequests();
      server.always(fault);
      RecordingHandler handler = new RecordingHandler();
      ObjectClient.Exchange exchange =
          patient.get(request(new ByteRange(0, LENGTH), Map.of()), handler);
      awaitRequests(1);
      long start = System.nanoTime();
      exchange.cancel();
      assertThat(handler.awaitFailure().kind()).isEqualTo(Kind.CANCELLED);
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
    }
    server.heal();
    RecordingHandler after = new RecordingHandler();
    patient.get(request(new ByteRange(0, LENGTH), Map.of()), after);
    assertThat(after.awaitDone()).isEqualTo(Arrays.copyOf(content, LENGTH));
    patient.close();
  }

  @Test
  void closeEndsStalledExchanges() throws Exception {
    ObjectClient patient = openPatient();
    server.always(Fault.stallAfter(100));
    List<RecordingHandler> handlers = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      RecordingHandler handler = new RecordingHandler();
      patient.get(request(new ByteRange(0, LENGTH), Map.of()), handler);
      handlers.add(handler);
    }
    awaitRequests(1);
    patient.close();
    for (RecordingHandler handler : handlers) {
      assertThat(handler.hasEnded()).isTrue();
      assertThat(handler.awaitFailure().kind()).isEqualTo(Kind.CANCELLED);
    }
  }

  @Test
  void sendsWhatItShould() throws Exception {
    RecordingHandler handler = new RecordingHandler();
    client.get(
        new GetRequest(
            OBJECT,
            new ByteRange(7, 17),
            etag,
            "v 1+2",
            false,
            Map.of("x-amz-request-payer", "requester"),
            null),
        handler);
    handler.awaitDone();
    HostileS3Server.Request sent = server.gets().get(0);
    assertThat(server.requests()).hasSize(1);
    assertThat(sent.target()).isEqualTo("/bucket/object?versionId=v%201%2B2");
    assertThat(sent.header("Range")).isEqualTo("bytes=7-16");
    assertThat(sent.header("If-Match")).isEqualTo(etag);
    assertThat(sent.header("x-amz-request-payer")).isEqualTo("requester");
    assertThat(sent.header("Authorization")).startsWith("AWS4-HMAC-SHA256 Credential=access/");
    assertThat(sent.header("User-Agent")).contains("S3E");
    assertThat(sent.headers()).doesNotContainKeys("x-amz-te", "x-amz-checksum-mode");
    assertThat(sent.header("Accept-Encoding")).isIn(null, "identity");
  }

  @Test
  void headSendsOneRequestAndItsHeaders() throws Exception {
    ObjectHead head =
        client.head(
            new HeadRequest(OBJECT, null, Map.of("x-amz-request-payer", "requester"), null));
    assertThat(head).isEqualTo(new ObjectHead(content.length, etag, null, null));
    assertThat(server.requests()).hasSize(1);
    assertThat(server.requests().get(0).method()).isEqualTo("HEAD");
    assertThat(server.requests().get(0).header("x-amz-request-payer")).isEqualTo("requester");
  }

  @Test
  void anonymousRequestsAreNotSigned() throws Exception {
    try (ObjectClient other = open(settings().anonymous(true).build(), MEMORY)) {
      RecordingHandler handler = new RecordingHandler();
      other.get(request(new ByteRange(0, 10), Map.of()), handler);
      assertThat(handler.awaitDone()).isEqualTo(Arrays.copyOf(content, 10));
      other.head(new HeadRequest(OBJECT, null, Map.of(), null));
    }
    assertThat(server.requests()).hasSize(2);
    assertThat(server.requests()).allMatch(sent -> sent.header("Authorization") == null);
  }

  @Test
  void settingsHeadersGoWithEveryRequest() throws Exception {
    AwsClientSettings with = settings().header("x-team", "blue").userAgentSuffix("job/7").build();
    try (ObjectClient other = open(with, MEMORY)) {
      RecordingHandler handler = new RecordingHandler();
      other.get(request(new ByteRange(0, 10), Map.of()), handler);
      handler.awaitDone();
    }
    assertThat(server.gets().get(0).header("x-team")).isEqualTo("blue");
    assertThat(server.gets().get(0).header("User-Agent")).contains("job/7");
  }

  @ParameterizedTest
  @CsvSource({
    "a b, /bucket/a%20b",
    "a+b%c, /bucket/a%2Bb%25c",
    "a//b, /bucket/a//b",
    "./a, /bucket/./a",
    "a/../b, /bucket/a/../b",
    "/lead, /bucket//lead",
    "end/, /bucket/end/",
    "ä~(x)*!, /bucket/%C3%A4~%28x%29%2A%21",
    "k=v&w?x#y, /bucket/k%3Dv%26w%3Fx%23y"
  })
  void keysAreSentAsTheyAre(String key, String target) throws Exception {
    server.put(new ObjectRef("bucket", key), new byte[] {9});
    RecordingHandler handler = new RecordingHandler();
    client.get(
        new GetRequest(
            new ObjectRef("bucket", key), new ByteRange(0, 1), null, null, false, Map.of(), null),
        handler);
    assertThat(handler.awaitDone()).containsExactly(9);
    // The SDK escapes the second of two slashes, which is the same key.
    assertThat(server.gets().get(0).target().replace("/%2F", "//")).isEqualTo(target);
  }

  /** A client that does not take a stall for a failure while a test lasts. */
  private ObjectClient openPatient() {
    return open(settings().stallTimeout(Duration.ofSeconds(60)).build(), MEMORY);
  }

  private interface HeadCheck {
    boolean holds(ResponseHead head);
  }

  /** A client either shows the odd head or refuses the response by itself. */
  private void expectHeadOrRejection(Fault fault, ByteRange range, HeadCheck check)
      throws Exception {
    for (boolean lend : new boolean[] {false, client.limits().lends()}) {
      server.always(fault);
      RecordingHandler handler = get(range, lend);
      RequestFailure failure = handler.awaitEnd();
      if (failure != null && failure.kind() == Kind.REJECTED) {
        assertThat(mayPass(failure)).as("%s", failure).isTrue();
        continue;
      }
      assertThat(check.holds(handler.awaitHead()))
          .as("%s, %s", handler.awaitHead(), failure)
          .isTrue();
    }
  }

  private ResponseHead headOf(ByteRange range) throws Exception {
    RecordingHandler handler = get(range);
    handler.awaitDone();
    return handler.awaitHead();
  }

  private void awaitRequests(int count) throws InterruptedException {
    awaitTrue("a request at the server", () -> server.gets().size() >= count);
  }

  private RecordingHandler get() {
    return get(new ByteRange(0, LENGTH));
  }

  private RecordingHandler get(ByteRange range) {
    return get(range, false);
  }

  private RecordingHandler get(ByteRange range, boolean lend) {
    RecordingHandler handler = new RecordingHandler();
    client.get(new GetRequest(OBJECT, range, null, null, lend, Map.of(), null), handler);
    return handler;
  }

  private static GetRequest request(ByteRange range, Map<String, String> headers) {
    return new GetRequest(OBJECT, range, null, null, false, headers, null);
  }

  /** Whether the fetch layer sends the same again. */
  private static boolean mayPass(RequestFailure failure) {
    History history = History.NONE;
    return failure.kind() != Kind.CANCELLED
        && new FaultPolicy(Duration.ZERO, Duration.ZERO).after(failure, history, 0) != null;
  }
}
