// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.given.SdkCredentials;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.RecordingHandler;
import io.s3e.testing.S3ProxyServer;
import io.s3e.testing.Slow;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.core.SdkGlobalTime;
import software.amazon.awssdk.core.exception.SdkClientException;

/** What clients do about credentials that are refused or missing, and about a clock that is off. */
@Timeout(60)
@Slow
@Tag("waits")
class ClientRemediesTest {
  private static final ClientMemory MEMORY = new ClientMemory(48L << 20, 1 << 20, 64 << 10);
  private static final ObjectRef OBJECT = new ObjectRef("bucket", "object");

  private final byte[] content = new byte[300_000];
  private final AtomicInteger asked = new AtomicInteger();
  private volatile Supplier<AwsCredentials> provider = () -> key("first");
  private HostileS3Server server;
  private ObjectClient client;

  @BeforeEach
  void start() throws Exception {
    new Random(20260807).nextBytes(content);
    server = HostileS3Server.start();
    server.put(OBJECT, content);
  }

  @AfterEach
  void stop() throws Exception {
    client.close();
    server.close();
    // The SDK keeps what it has learnt for the whole JVM.
    SdkGlobalTime.setGlobalTimeOffset(0);
  }

  private void open(EveryClient kind) {
    client =
        kind.open(
            AwsClientSettings.builder()
                .endpoint(server.endpoint())
                .region(S3ProxyServer.REGION)
                .pathStyle(true)
                .credentials(
                    new SdkCredentials(
                        () -> {
                          asked.incrementAndGet();
                          return provider.get();
                        }))
                .connectTimeout(Duration.ofSeconds(2))
                .requestTimeout(Duration.ofSeconds(20))
                .stallTimeout(Duration.ofSeconds(5))
                .build(),
            MEMORY);
  }

  @ParameterizedTest
  @EnumSource(value = EveryClient.class, names = "CRT_.*", mode = Mode.MATCH_ALL)
  void credentialsAreAskedForAnewAfterARefusal(EveryClient kind) throws Exception {
    open(kind);
    get().awaitDone();
    int status = 400;
    for (String code : List.of("ExpiredToken", "InvalidToken", "InvalidAccessKeyId")) {
      String next = "after-" + code;
      provider = () -> key(next);
      refuseAllBut(next, status, code);

      RequestFailure failure = get().awaitFailure();
      assertThat(failure.refusal().code()).isEqualTo(code);
      remedy(Remedy.CREDENTIALS, failure);
      assertThat(get().awaitDone()).isEqualTo(content);
      status = 403;
    }
  }

  @ParameterizedTest
  @EnumSource(value = EveryClient.class, names = "CRT_.*", mode = Mode.MATCH_ALL)
  void headsToo(EveryClient kind) throws Exception {
    open(kind);
    get().awaitDone();
    for (int status : new int[] {400, 403}) {
      String next = "after-" + status;
      provider = () -> key(next);
      refuseAllBut(next, status, "ExpiredToken");

      RequestFailure failure = catchThrowableOfType(RequestFailure.class, this::head);
      assertThat(failure.refusal().code()).as("a HEAD has no document").isNull();
      remedy(Remedy.CREDENTIALS, failure);
      assertThat(head().size()).isEqualTo(content.length);
    }
  }

  @ParameterizedTest
  @EnumSource(EveryClient.class)
  void aProviderThatFailsMeansNoCredentials(EveryClient kind) throws Exception {
    open(kind);
    provider =
        () -> {
          throw SdkClientException.create("the metadata service is down");
        };
    RequestFailure failure = get().awaitFailure();
    assertThat(failure.kind()).isEqualTo(Kind.CREDENTIALS);
    assertThat(failure).hasStackTraceContaining("the metadata service is down");
    RequestFailure ofHead = catchThrowableOfType(RequestFailure.class, this::head);
    assertThat(ofHead.kind()).isEqualTo(Kind.CREDENTIALS);
    assertThat(server.requests()).isEmpty();

    provider = () -> key("first");
    assertThat(get().awaitDone()).isEqualTo(content);
  }

  @ParameterizedTest
  @EnumSource(value = EveryClient.class, names = "CRT_.*", mode = Mode.MATCH_ALL)
  void manyRefusedRequestsShareOneRefresh(EveryClient kind) throws Exception {
    open(kind);
    get().awaitDone();
    CountDownLatch release = new CountDownLatch(1);
    provider =
        () -> {
          awaitQuietly(release);
          return key("second");
        };
    refuseAllBut("second", 400, "ExpiredToken");
    List<RecordingHandler> handlers = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      handlers.add(get());
    }
    List<CompletableFuture<Void>> remedied = new ArrayList<>();
    for (RecordingHandler handler : handlers) {
      RequestFailure failure = handler.awaitFailure();
      CompletableFuture<Void> done = new CompletableFuture<>();
      client.remedy(Remedy.CREDENTIALS, failure.answer(), () -> done.complete(null));
      remedied.add(done);
    }
    assertThat(remedied)
        .as("waited for, but not by the caller")
        .noneMatch(CompletableFuture::isDone);
    release.countDown();
    for (CompletableFuture<Void> done : remedied) {
      done.get(10, TimeUnit.SECONDS);
    }
    assertThat(get().awaitDone()).isEqualTo(content);
    assertThat(asked).hasValue(2);
  }

  @ParameterizedTest
  @EnumSource(value = EveryClient.class, names = "CRT_.*", mode = Mode.MATCH_ALL)
  void refusedCredentialsServeNoMoreWhileTheProviderIsDown(EveryClient kind) throws Exception {
    open(kind);
    get().awaitDone();
    refuseAllBut("second", 400, "ExpiredToken");
    provider =
        () -> {
          throw SdkClientException.create("down");
        };
    remedy(Remedy.CREDENTIALS, get().awaitFailure());
    assertThat(get().awaitFailure().kind()).isEqualTo(Kind.CREDENTIALS);
    provider = () -> key("second");
    assertThat(get().awaitDone()).isEqualTo(content);
  }

  @ParameterizedTest
  @EnumSource(value = EveryClient.class, names = "CRT_.*", mode = Mode.MATCH_ALL)
  void credentialsServeUntilTheyExpireWhileTheProviderIsDown(EveryClient kind) throws Exception {
    open(kind);
    Instant expiry = Instant.now().plusSeconds(3);
    provider = () -> expiring("first", expiry);
    get().awaitDone();
    provider =
        () -> {
          throw SdkClientException.create("down");
        };
    assertThat(get().awaitDone()).isEqualTo(content);
    awaitTrue("the expiry", () -> Instant.now().isAfter(expiry));
    assertThat(get().awaitFailure().kind()).isEqualTo(Kind.CREDENTIALS);
    provider = () -> expiring("second", Instant.now().plusSeconds(3600));
    assertThat(get().awaitDone()).isEqualTo(content);
  }

  @ParameterizedTest
  @EnumSource
  void aClockThatIsOffIsCorrected(EveryClient kind) throws Exception {
    for (Duration offset : List.of(Duration.ofHours(1), Duration.ofHours(-1))) {
      open(kind);
      server.clock(offset);
      RequestFailure failure = get().awaitFailure();
      assertThat(failure.refusal().code()).isEqualTo("RequestTimeTooSkewed");
      remedy(Remedy.CLOCK, failure);
      assertThat(get().awaitDone()).isEqualTo(content);
      assertThat(head().size()).isEqualTo(content.length);
      server.clock(Duration.ZERO);
      remedy(Remedy.CLOCK, get().awaitFailure());
      assertThat(get().awaitDone()).as("the clock was set right").isEqualTo(content);
      client.close();
      SdkGlobalTime.setGlobalTimeOffset(0);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aRefusedHeadTellsOfTheClockToo(EveryClient kind) throws Exception {
    open(kind);
    server.clock(Duration.ofHours(1));
    RequestFailure failure = catchThrowableOfType(RequestFailure.class, this::head);
    remedy(Remedy.CREDENTIALS, failure);
    assertThat(head().size()).isEqualTo(content.length);
  }

  private void refuseAllBut(String key, int status, String code) {
    server.decideAll(
        request ->
            request.header("Authorization").contains("Credential=" + key + "/")
                ? Fault.none()
                : Fault.status(status, code));
  }

  private void remedy(Remedy remedy, RequestFailure failure) throws Exception {
    CompletableFuture<Void> done = new CompletableFuture<>();
    client.remedy(remedy, failure.answer(), () -> done.complete(null));
    done.get(20, TimeUnit.SECONDS);
  }

  private RecordingHandler get() {
    RecordingHandler handler = new RecordingHandler();
    client.get(
        new GetRequest(OBJECT, new ByteRange(0, content.length), null, null, false, Map.of(), null),
        handler);
    return handler;
  }

  private ObjectHead head() throws java.io.IOException {
    return client.head(new HeadRequest(OBJECT, null, Map.of(), null));
  }

  private static AwsCredentials key(String name) {
    return AwsBasicCredentials.create(name, "secret");
  }

  private static AwsCredentials expiring(String name, Instant expiry) {
    return AwsSessionCredentials.builder()
        .accessKeyId(name)
        .secretAccessKey("secret")
        .sessionToken("token")
        .expirationTime(expiry)
        .build();
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await(20, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
