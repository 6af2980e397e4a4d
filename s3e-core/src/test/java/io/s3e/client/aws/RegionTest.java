package io.s3e.client.aws;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.client.ClientMemory;
import io.s3e.client.EveryClient;
import io.s3e.client.GetRequest;
import io.s3e.client.HeadRequest;
import io.s3e.client.ObjectClient;
import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.RecordingHandler;
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
        assertThat(get(client, lend).awaitDone()).isEqualTo(Arrays.copyOf(content, READ_BYTES));
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
        assertThat(handler.awaitDone()).isEqualTo(Arrays.copyOf(content, READ_BYTES));
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
          assertThat(get(client, object, false).awaitDone())
              .isEqualTo(Arrays.copyOf(content, READ_BYTES));
        }
      }
    }
    assertThat(server.gets()).hasSize(5);
  }

  private static void assertRedirected(RequestFailure failure, String region) {
    assertThat(failure.kind()).isEqualTo(Kind.REDIRECTED);
    assertThat(failure.refusal().region()).isEqualTo(region);
  }

  private static long head(ObjectClient client) throws Exception {
    return client.head(new HeadRequest(OBJECT, null, Map.of(), null)).size();
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
            StaticCredentialsProvider.create(AwsBasicCredentials.create("access", "secret")));
  }
}
