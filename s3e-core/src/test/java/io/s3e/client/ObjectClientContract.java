// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.given.SdkCredentials;
import io.s3e.testing.Pause;
import io.s3e.testing.RecordingHandler;
import io.s3e.testing.S3ProxyServer;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/**
 * The promises of every {@link ObjectClient}, against a real S3 protocol server that checks
 * signatures. Subclasses say how to make the client.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class ObjectClientContract {
  protected static final int BLOCK = 64 << 10;
  protected static final int REQUEST = 1 << 20;
  protected static final ClientMemory MEMORY = new ClientMemory(48L << 20, REQUEST, BLOCK);

  private static final String BUCKET = "bucket";
  private static final long SEED = 20260807;

  @RegisterExtension static final S3ProxyServer S3 = S3ProxyServer.signed();

  private final byte[] content = new byte[5 * (1 << 20) + 4321];
  private final ObjectRef object = new ObjectRef(BUCKET, "data/object.bin");
  private String etag;
  private ObjectClient client;

  /** Opens the client under test. */
  protected abstract ObjectClient open(AwsClientSettings settings, ClientMemory memory);

  @BeforeAll
  void writeObject() {
    new Random(SEED).nextBytes(content);
    S3.createBucket(BUCKET);
    etag = S3.put(BUCKET, object.key(), content);
  }

  @BeforeEach
  void openClient() {
    client = open(settings().build(), MEMORY);
  }

  @AfterEach
  void closeClient() {
    client.close();
  }

  protected final AwsClientSettings.Builder settings() {
    return AwsClientSettings.builder()
        .endpoint(S3.endpoint())
        .region(S3ProxyServer.REGION)
        .pathStyle(true)
        .credentials(new SdkCredentials(S3.credentials()))
        .requestTimeout(Duration.ofSeconds(20));
  }

  @Test
  void reportsLimitsWithinItsMemory() {
    ClientLimits limits = client.limits();
    assertThat(limits.ownedBytes()).isBetween(0L, MEMORY.ownedBytes());
    assertThat(limits.copyRequestBytes()).isBetween(BLOCK, REQUEST);
    assertThat(limits.copyRequestBytes() % BLOCK).isZero();
    assertThat(limits.lentSlotBytes() % BLOCK).isZero();
    assertThat(client.limits()).isEqualTo(limits);
  }

  @Test
  void headTellsSizeAndEtag() throws Exception {
    ObjectHead head = client.head(new HeadRequest(object, null, Map.of(), null));
    assertThat(head.size()).isEqualTo(content.length);
    assertThat(head.etag()).isEqualTo(etag);
  }

  @Test
  void headOfAMissingObjectIsNotFound() {
    assertThatExceptionOfType(RequestFailure.class)
        .isThrownBy(
            () -> client.head(new HeadRequest(new ObjectRef(BUCKET, "none"), null, Map.of(), null)))
        .satisfies(
            e -> {
              assertThat(e.kind()).isEqualTo(Kind.NOT_FOUND);
              assertThat(e.refusal().status()).isEqualTo(404);
              assertThat(e.getMessage()).contains("none");
            });
  }

  @Test
  void copiesExactlyTheRange() throws Exception {
    int longest = client.limits().copyRequestBytes();
    for (int length : new int[] {1, 2, 4095, BLOCK, BLOCK + 1, longest - 1, longest}) {
      for (long start : new long[] {0, 1, BLOCK - 1, content.length - length}) {
        assertThat(get(ByteRange.ofLength(start, length), false).awaitDone())
            .as("%s bytes from %s", length, start)
            .isEqualTo(Arrays.copyOfRange(content, (int) start, (int) start + length));
      }
    }
  }

  @Test
  void lendsExactlyTheRange() throws Exception {
    ClientLimits limits = client.limits();
    if (!limits.lends()) {
      assertThat(get(new ByteRange(0, 10), true).awaitFailure().kind()).isEqualTo(Kind.NOT_LENT);
      return;
    }
    int slot = limits.lentSlotBytes();
    for (int length : new int[] {1, BLOCK, slot - 1, slot}) {
      for (long start : new long[] {0, 7, content.length - length}) {
        assertThat(get(ByteRange.ofLength(start, length), true).awaitDone())
            .as("%s bytes from %s", length, start)
            .isEqualTo(Arrays.copyOfRange(content, (int) start, (int) start + length));
      }
    }
  }

  @Test
  void closedLentBuffersComeBack() throws Exception {
    ClientLimits limits = client.limits();
    for (int round = 0; round < 3; round++) {
      List<RecordingHandler> held = new ArrayList<>();
      for (int i = 0; i < limits.lentSlots(); i++) {
        RecordingHandler handler = new RecordingHandler().keepLent();
        client.get(request(ByteRange.ofLength(i, 1000), true), handler);
        held.add(handler);
      }
      for (int i = 0; i < held.size(); i++) {
        assertThat(held.get(i).awaitDone()).isEqualTo(Arrays.copyOfRange(content, i, i + 1000));
        held.get(i).lent().close();
        held.get(i).lent().close();
      }
    }
  }

  @Test
  void aLentBufferOutlivesTheClient() throws Exception {
    if (!client.limits().lends()) {
      return;
    }
    RecordingHandler handler = new RecordingHandler().keepLent();
    client.get(request(new ByteRange(100, 5100), true), handler);
    handler.awaitDone();
    client.close();
    byte[] seen = new byte[5000];
    handler.lent().bytes().get(0, seen);
    handler.lent().close();
    assertThat(seen).isEqualTo(Arrays.copyOfRange(content, 100, 5100));
  }

  @Test
  void passesTheHeadOn() throws Exception {
    RecordingHandler handler = get(new ByteRange(10, 20), false);
    ResponseHead head = handler.awaitHead();
    handler.awaitDone();
    assertThat(head.status()).isEqualTo(206);
    assertThat(head.contentRange()).isEqualTo("bytes 10-19/" + content.length);
    assertThat(head.contentLength()).isEqualTo(10);
    assertThat(head.etag()).isEqualTo(etag);
    assertThat(head.contentEncoding()).isNull();
  }

  @Test
  void aMatchingEtagReads() throws Exception {
    RecordingHandler handler = new RecordingHandler();
    client.get(
        new GetRequest(object, new ByteRange(0, 10), etag, null, false, Map.of(), null), handler);
    assertThat(handler.awaitDone()).isEqualTo(Arrays.copyOf(content, 10));
  }

  @Test
  void anotherEtagMeansChanged() throws Exception {
    RecordingHandler handler = new RecordingHandler();
    client.get(
        new GetRequest(object, new ByteRange(0, 10), "\"0123\"", null, false, Map.of(), null),
        handler);
    RequestFailure failure = handler.awaitFailure();
    assertThat(failure.kind()).isEqualTo(Kind.CHANGED);
    assertThat(failure.refusal().status()).isEqualTo(412);
  }

  @Test
  void aMissingObjectIsNotFound() throws Exception {
    RecordingHandler handler = new RecordingHandler();
    client.get(
        new GetRequest(
            new ObjectRef(BUCKET, "none"), new ByteRange(0, 10), null, null, false, Map.of(), null),
        handler);
    RequestFailure failure = handler.awaitFailure();
    assertThat(failure.kind()).isEqualTo(Kind.NOT_FOUND);
    assertThat(failure.getMessage()).contains("s3://bucket/none");
  }

  @Test
  void aRangePastTheEndIsOutOfRange() throws Exception {
    RequestFailure failure =
        get(ByteRange.ofLength(content.length + 10L, 10), false).awaitFailure();
    assertThat(failure.kind()).isEqualTo(Kind.OUT_OF_RANGE);
    assertThat(failure.refusal().status()).isEqualTo(416);
  }

  @Test
  void aWrongSecretIsForbidden() throws Exception {
    StaticCredentialsProvider wrong =
        StaticCredentialsProvider.create(
            AwsBasicCredentials.create(S3ProxyServer.ACCESS_KEY, "not the secret"));
    try (ObjectClient other =
        open(settings().credentials(new SdkCredentials(wrong)).build(), MEMORY)) {
      RecordingHandler handler = new RecordingHandler();
      other.get(request(new ByteRange(0, 10), false), handler);
      RequestFailure failure = handler.awaitFailure();
      assertThat(failure.kind()).isEqualTo(Kind.FORBIDDEN);
      assertThat(failure.getMessage()).doesNotContain("not the secret");
    }
  }

  @Test
  void credentialsThatCannotBeFoundAreNotRetried() throws Exception {
    AwsClientSettings broken =
        settings()
            .credentials(
                new SdkCredentials(
                    () -> {
                      throw new IllegalStateException("no credentials today");
                    }))
            .build();
    try (ObjectClient other = open(broken, MEMORY)) {
      RecordingHandler handler = new RecordingHandler();
      other.get(request(new ByteRange(0, 10), false), handler);
      RequestFailure failure = handler.awaitFailure();
      assertThat(failure.kind()).isIn(Kind.CREDENTIALS, Kind.OTHER);
      assertThat(failure.getMessage()).contains("no credentials today");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "with space",
        "plus+and%percent",
        "ünïcödé/日本",
        "a~b-c_d.e",
        "quote'\"<>&",
        "semi;colon:at@eq=amp&dollar$comma,",
        "q?uestion#hash",
        "year=2024/month=01/part-0.parquet"
      })
  void signsAndReadsUnusualKeys(String key) throws Exception {
    S3.put(BUCKET, key, new byte[] {1, 2, 3});
    RecordingHandler handler = new RecordingHandler();
    client.get(
        new GetRequest(
            new ObjectRef(BUCKET, key), new ByteRange(0, 3), null, null, false, Map.of(), null),
        handler);
    assertThat(handler.awaitDone()).containsExactly(1, 2, 3);
    assertThat(
            client.head(new HeadRequest(new ObjectRef(BUCKET, key), null, Map.of(), null)).size())
        .isEqualTo(3);
  }

  @Test
  void aHandlerThatRefusesTheHeadIsTold() throws Exception {
    RecordingHandler handler =
        new RecordingHandler()
            .duringHead(
                () -> {
                  throw new IOException("not this one");
                });
    client.get(request(new ByteRange(0, BLOCK), false), handler);
    RequestFailure failure = handler.awaitFailure();
    assertThat(failure.kind()).isEqualTo(Kind.REJECTED);
    assertThat(failure).hasRootCauseMessage("not this one");
    assertThat(handler.bytes()).isEmpty();
  }

  @Test
  void aHandlerThatRefusesDataIsTold() throws Exception {
    for (boolean lend : new boolean[] {false, client.limits().lends()}) {
      RecordingHandler handler =
          new RecordingHandler()
              .duringData(
                  () -> {
                    throw new IllegalStateException("enough");
                  });
      client.get(request(new ByteRange(0, BLOCK), lend), handler);
      RequestFailure failure = handler.awaitFailure();
      assertThat(failure.kind()).isEqualTo(Kind.REJECTED);
      assertThat(failure).hasRootCauseMessage("enough");
    }
    assertThat(get(new ByteRange(0, 10), false).awaitDone()).isEqualTo(Arrays.copyOf(content, 10));
  }

  @Test
  @Slow
  void cancelBeforeOrAfterTheEndIsHarmless() throws Exception {
    for (int i = 0; i < 200; i++) {
      RecordingHandler handler = new RecordingHandler();
      boolean lend = i % 2 == 0 && client.limits().lends();
      ObjectClient.Exchange exchange =
          client.get(request(ByteRange.ofLength(i, BLOCK), lend), handler);
      if (i % 4 < 2) {
        Pause.of(Duration.ofNanos(i * 4_000L), "each time at another moment");
      } else if (i % 4 == 2) {
        handler.awaitHead();
      }
      exchange.cancel();
      exchange.cancel();
      RequestFailure failure = handler.awaitEnd();
      if (failure == null) {
        assertThat(handler.bytes()).isEqualTo(Arrays.copyOfRange(content, i, i + BLOCK));
      } else {
        assertThat(failure.kind()).isEqualTo(Kind.CANCELLED);
      }
      exchange.cancel();
      assertThat(handler.violations()).isEmpty();
    }
  }

  @Test
  void cancelWithinTheHandlerWorks() throws Exception {
    ObjectClient.Exchange[] exchange = new ObjectClient.Exchange[1];
    RecordingHandler handler =
        new RecordingHandler()
            .duringHead(
                () -> {
                  synchronized (exchange) {
                    exchange[0].cancel();
                  }
                });
    synchronized (exchange) {
      exchange[0] = client.get(request(new ByteRange(0, BLOCK), false), handler);
    }
    RequestFailure failure = handler.awaitEnd();
    if (failure != null) {
      assertThat(failure.kind()).isEqualTo(Kind.CANCELLED);
    }
  }

  @Test
  void manyRequestsAtOnceAllArrive() throws Exception {
    Random random = new Random(SEED);
    List<RecordingHandler> handlers = new ArrayList<>();
    List<ByteRange> ranges = new ArrayList<>();
    for (int i = 0; i < 64; i++) {
      int length = 1 + random.nextInt(client.limits().copyRequestBytes());
      ByteRange range = ByteRange.ofLength(random.nextInt(content.length - length), length);
      boolean lend = i % 2 == 0 && length <= client.limits().lentSlotBytes();
      ranges.add(range);
      handlers.add(get(range, lend));
    }
    for (int i = 0; i < handlers.size(); i++) {
      ByteRange range = ranges.get(i);
      assertThat(handlers.get(i).awaitDone())
          .isEqualTo(Arrays.copyOfRange(content, (int) range.start(), (int) range.end()));
    }
  }

  @Test
  void closingEndsWhatIsInFlight() throws Exception {
    for (int round = 0; round < 5; round++) {
      ObjectClient other = open(settings().build(), MEMORY);
      List<RecordingHandler> handlers = new ArrayList<>();
      for (int i = 0; i < 24; i++) {
        RecordingHandler handler = new RecordingHandler();
        other.get(
            request(ByteRange.ofLength(i, other.limits().copyRequestBytes()), false), handler);
        handlers.add(handler);
      }
      Pause.millis(round * 5L, "each time at another moment");
      other.close();
      other.close();
      for (RecordingHandler handler : handlers) {
        assertThat(handler.hasEnded()).isTrue();
        RequestFailure failure = handler.awaitEnd();
        if (failure != null) {
          assertThat(failure.kind()).isEqualTo(Kind.CANCELLED);
        }
      }
      RecordingHandler late = new RecordingHandler();
      other.get(request(new ByteRange(0, 10), false), late);
      assertThat(late.awaitFailure().kind()).isEqualTo(Kind.CANCELLED);
      assertThatExceptionOfType(RequestFailure.class)
          .isThrownBy(() -> other.head(new HeadRequest(object, null, Map.of(), null)))
          .matches(e -> e.kind() == Kind.CANCELLED);
    }
  }

  protected final GetRequest request(ByteRange range, boolean lend) {
    return new GetRequest(object, range, null, null, lend, Map.of(), null);
  }

  private RecordingHandler get(ByteRange range, boolean lend) {
    RecordingHandler handler = new RecordingHandler();
    client.get(request(range, lend), handler);
    return handler;
  }
}
