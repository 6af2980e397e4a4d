// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.aws;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientMemory;
import io.s3e.client.EveryClient;
import io.s3e.client.GetRequest;
import io.s3e.client.HeadRequest;
import io.s3e.client.ObjectClient;
import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.client.given.SdkCredentials;
import io.s3e.columnar.ColumnarMode;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.stream.S3EInputStream;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.RecordingHandler;
import io.s3e.testing.Slow;
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
import org.junit.jupiter.params.provider.EnumSource;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/** Buckets that turn out to be in another region than the settings say. */
class RegionTest {
  private static final ClientMemory MEMORY = new ClientMemory(32L << 20, 1 << 20, 64 << 10);
  private static final ObjectRef OBJECT = new ObjectRef("bucket", "object");
  private static final int READ_BYTES = 60_000;

  private HostileS3Server server;
  private byte[] content;

  @BeforeEach
  void start() throws Exception {
    server = HostileS3Server.start();
    content = new byte[700_000];
    new Random(20261122).nextBytes(content);
    server.put(OBJECT, content);
  }

  @AfterEach
  void stop() throws Exception {
    server.close();
  }

  @ParameterizedTest
  @CsvSource({
    "301, PermanentRedirect",
    "307, TemporaryRedirect",
    "400, AuthorizationHeaderMalformed",
    "400, IllegalLocationConstraintException",
    "403, AccessDenied"
  })
  void theRegionThatTheStoreNamesIsFollowed(int status, String code) throws Exception {
    server.redirect(status, code, region -> "eu-west-1");
    try (ObjectClient client = open(settings().build())) {
      assertThat(head(client)).isEqualTo(content.length);
      for (boolean lend : new boolean[] {false, client.limits().lends()}) {
        awaitDone(client, OBJECT, get(client, lend));
      }
    }
    assertThat(server.requests())
        .extracting(request -> request.header("Authorization").split("/")[2])
        .containsExactly("us-east-1", "eu-west-1", "eu-west-1", "eu-west-1");
  }

  @Test
  void requestsThatWereUnderWayAreEachSentAgain() throws Exception {
    server.redirect(301, "PermanentRedirect", region -> "eu-west-1");
    try (ObjectClient client = open(settings().build())) {
      List<RecordingHandler> handlers = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        handlers.add(get(client, i % 2 == 0 && client.limits().lends()));
      }
      for (RecordingHandler handler : handlers) {
        awaitDone(client, OBJECT, handler);
      }
    }
    assertThat(server.gets()).hasSizeLessThanOrEqualTo(16);
  }

  @Test
  void aStoreThatSendsClientsAroundHasTheLastWord() throws Exception {
    server.redirect(
        301,
        "PermanentRedirect",
        region -> region.equals("eu-west-1") ? "ap-south-1" : "eu-west-1");
    try (ObjectClient client = open(settings().build())) {
      assertMoved(get(client, false).awaitFailure());
      assertRedirected(get(client, false).awaitFailure(), "ap-south-1");
      assertThat(server.gets()).hasSize(2);
      assertRedirected(get(client, false).awaitFailure(), "ap-south-1");
      assertThat(server.gets()).hasSize(3);
      assertThatExceptionOfType(RequestFailure.class)
          .isThrownBy(() -> head(client))
          .satisfies(e -> assertRedirected(e, "ap-south-1"));
      assertThat(server.requests()).hasSize(4);
    }
  }

  @ParameterizedTest
  @EnumSource
  @Slow
  void noRegionIsFollowedUnasked(EveryClient kind) throws Exception {
    server.redirect(301, "PermanentRedirect", region -> "eu-west-1");
    try (ObjectClient client =
        kind.provider(settings().followRegion(false).build()).create(MEMORY)) {
      assertRedirected(get(client, false).awaitFailure(), "eu-west-1");
      assertThat(server.requests()).hasSize(1);
    }
  }

  @Test
  void eachBucketHasItsOwnRegion() throws Exception {
    ObjectRef abroad = new ObjectRef("abroad", "object");
    server.put(abroad, content);
    server.decide(
        request -> {
          boolean right =
              request.target().startsWith("/abroad/")
                  == request.header("Authorization").contains("/eu-west-1/");
          return right
              ? Fault.none()
              : Fault.status(301, "PermanentRedirect")
                  .and(Fault.header("x-amz-bucket-region", "eu-west-1"));
        });
    try (ObjectClient client = open(settings().build())) {
      for (int i = 0; i < 2; i++) {
        for (ObjectRef object : List.of(OBJECT, abroad)) {
          awaitDone(client, object, get(client, object, false));
        }
      }
    }
    assertThat(server.gets()).hasSize(5);
  }

  /** The fetch layer sends again what the client has told to have moved. */
  @Test
  void aReaderHearsNothingOfIt() throws Exception {
    server.redirect(301, "PermanentRedirect", region -> "eu-west-1");
    S3EConfig config = S3EConfig.DEFAULTS.toBuilder().columnar(ColumnarMode.OFF).build();
    try (S3E s3e =
        S3E.create(config, new MemoryBudget(64L << 20), AwsClients.crt(settings().build()))) {
      OpenOptions sized = OpenOptions.DEFAULTS.withSize(content.length);
      for (OpenOptions options : List.of(OpenOptions.DEFAULTS, sized)) {
        byte[] read = new byte[content.length];
        try (S3EInputStream in = s3e.open(OBJECT, options)) {
          in.readFullyAt(0, read, 0, read.length);
        }
        assertThat(read).isEqualTo(content);
      }
      assertThat(s3e.metrics().get(Counter.FAILURES)).isZero();
    }
    ObjectRef other = new ObjectRef("other", "object");
    server.put(other, content);
    try (S3E s3e =
        S3E.create(config, new MemoryBudget(64L << 20), AwsClients.crt(settings().build()))) {
      OpenOptions sized = OpenOptions.DEFAULTS.withSize(content.length);
      try (S3EInputStream in = s3e.open(other, sized)) {
        byte[] read = new byte[content.length];
        in.readFullyAt(0, read, 0, read.length);
        assertThat(read).isEqualTo(content);
      }
      assertThat(s3e.metrics().get(Counter.RETRIES)).isEqualTo(1);
      assertThat(s3e.metrics().get(Counter.GETS)).isEqualTo(2);
    }
  }

  /** Waits for the bytes; a GET that was told to have moved is sent again, as the caller does. */
  private void awaitDone(ObjectClient client, ObjectRef object, RecordingHandler handler)
      throws Exception {
    RecordingHandler last = handler;
    RequestFailure failure = handler.awaitEnd();
    if (failure != null) {
      assertMoved(failure);
      last = get(client, object, false);
    }
    assertThat(last.awaitDone()).isEqualTo(Arrays.copyOf(content, READ_BYTES));
  }

  private static void assertMoved(RequestFailure failure) {
    assertThat(failure.kind()).isEqualTo(Kind.MOVED);
    assertThat(failure.refusal().region()).isEqualTo("eu-west-1");
  }

  private static void assertRedirected(RequestFailure failure, String region) {
    assertThat(failure.kind()).isEqualTo(Kind.REDIRECTED);
    assertThat(failure.refusal().region()).isEqualTo(region);
  }

  private static long head(ObjectClient client) throws Exception {
    HeadRequest request = new HeadRequest(OBJECT, null, Map.of(), null);
    try {
      return client.head(request).size();
    } catch (RequestFailure e) {
      if (e.kind() != Kind.MOVED) {
        throw e;
      }
      return client.head(request).size();
    }
  }

  private static RecordingHandler get(ObjectClient client, boolean lend) {
    return get(client, OBJECT, lend);
  }

  private static RecordingHandler get(ObjectClient client, ObjectRef object, boolean lend) {
    RecordingHandler handler = new RecordingHandler();
    client.get(
        new GetRequest(object, new ByteRange(0, READ_BYTES), null, null, lend, Map.of(), null),
        handler);
    return handler;
  }

  private static ObjectClient open(AwsClientSettings settings) {
    return AwsClients.crt(settings).create(MEMORY);
  }

  private AwsClientSettings.Builder settings() {
    return AwsClientSettings.builder()
        .endpoint(server.endpoint())
        .region("us-east-1")
        .pathStyle(true)
        .credentials(
            new SdkCredentials(
                StaticCredentialsProvider.create(AwsBasicCredentials.create("access", "secret"))));
  }
}
