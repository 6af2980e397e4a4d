// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.testing.Slow;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.ResponseBytes;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.apache.ApacheHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;
import software.amazon.awssdk.services.s3.model.S3Exception;
import software.amazon.awssdk.services.s3.model.S3Object;

/** The S3 protocol of the server, as the AWS SDK's own client speaks it. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ShapedS3ServerTest {

  private static final String BUCKET = "bucket";
  private static final String KEY = "dir/object";
  private static final int LENGTH = 1_000_003;

  @TempDir private static Path temp;
  private static ShapedS3Server server;
  private static S3Client s3;
  private static byte[] content;

  @BeforeAll
  static void start() throws Exception {
    Path root = Files.createDirectory(temp.resolve("root"));
    server =
        ShapedS3Server.start(
            new ShapedS3Server.Settings(root, 0, "access", "secret", Shape.UNSHAPED));
    s3 = client("secret");
    s3.createBucket(b -> b.bucket(BUCKET));
    content = new byte[LENGTH];
    new Random(7).nextBytes(content);
    put(KEY, content);
  }

  @AfterAll
  static void stop() throws Exception {
    s3.close();
    server.close();
  }

  private static S3Client client(String secret) {
    return client(server, secret);
  }

  private static S3Client client(ShapedS3Server of, String secret) {
    return S3Client.builder()
        .endpointOverride(of.endpoint())
        .region(Region.US_EAST_1)
        .forcePathStyle(true)
        .httpClientBuilder(ApacheHttpClient.builder())
        .credentialsProvider(
            StaticCredentialsProvider.create(AwsBasicCredentials.create("access", secret)))
        .build();
  }

  private static void put(String key, byte[] bytes) {
    s3.putObject(
        b -> b.bucket(BUCKET).key(key).metadata(Map.of("colour", "green")),
        RequestBody.fromBytes(bytes));
  }

  private static ResponseBytes<GetObjectResponse> get(String key, String range) {
    return s3.getObjectAsBytes(b -> b.bucket(BUCKET).key(key).range(range));
  }

  private static void expectStatus(int status, Runnable request) {
    assertThatThrownBy(request::run)
        .isInstanceOfSatisfying(
            S3Exception.class, e -> assertThat(e.statusCode()).isEqualTo(status));
  }

  @Test
  void wholeObjectComesWithItsHead() throws Exception {
    long relayedBefore = quietStats().relayedGets();
    ResponseBytes<GetObjectResponse> got = get(KEY, null);
    HeadObjectResponse head = s3.headObject(b -> b.bucket(BUCKET).key(KEY));

    assertThat(got.asByteArray()).isEqualTo(content);
    assertThat(got.response().sdkHttpResponse().statusCode()).isEqualTo(200);
    assertThat(got.response().contentLength()).isEqualTo(LENGTH);
    assertThat(got.response().eTag()).isEqualTo(head.eTag());
    assertThat(got.response().lastModified()).isEqualTo(head.lastModified());
    assertThat(got.response().acceptRanges()).isEqualTo("bytes");
    assertThat(got.response().metadata()).isEqualTo(head.metadata()).containsKey("colour");
    assertThat(quietStats().relayedGets()).isEqualTo(relayedBefore);
  }

  @ParameterizedTest
  @CsvSource({
    "bytes=0-0, 0, 1",
    "bytes=0-9, 0, 10",
    "bytes=5-, 5, 999998",
    "bytes=-7, 999996, 7",
    "bytes=-2000000, 0, 1000003",
    "bytes=1000002-1000002, 1000002, 1",
    "bytes=999999-5000000, 999999, 4",
    "bytes=262143-262145, 262143, 3",
    "bytes=1-600000, 1, 600000",
  })
  void rangeAnswersWithExactlyItsBytes(String range, int start, int length) {
    ResponseBytes<GetObjectResponse> got = get(KEY, range);

    assertThat(got.response().sdkHttpResponse().statusCode()).isEqualTo(206);
    assertThat(got.response().contentRange())
        .isEqualTo("bytes %d-%d/%d", start, start + length - 1, LENGTH);
    assertThat(got.asByteArray()).isEqualTo(Arrays.copyOfRange(content, start, start + length));
  }

  @ParameterizedTest
  @ValueSource(strings = {"bytes=1000003-", "bytes=1000003-1000004", "bytes=-0"})
  void rangeWithoutABytes416(String range) {
    expectStatus(416, () -> get(KEY, range));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"bytes=", "bytes=-", "bytes=5-4", "lines=0-1", "bytes=0-99999999999999999999"})
  void malformedRangeIsIgnored(String range) {
    assertThat(get(KEY, range).response().sdkHttpResponse().statusCode()).isEqualTo(200);
  }

  @Test
  void emptyObject() {
    put("empty", new byte[0]);

    assertThat(get("empty", null).asByteArray()).isEmpty();
    expectStatus(416, () -> get("empty", "bytes=0-0"));
  }

  @Test
  void ifMatchHoldsOrFailsWith412() {
    String etag = s3.headObject(b -> b.bucket(BUCKET).key(KEY)).eTag();

    assertThat(s3.getObjectAsBytes(b -> b.bucket(BUCKET).key(KEY).ifMatch(etag)).asByteArray())
        .isEqualTo(content);
    expectStatus(
        412, () -> s3.getObjectAsBytes(b -> b.bucket(BUCKET).key(KEY).ifMatch("\"other\"")));
  }

  @Test
  void replacedObjectHasANewEtagAndNewBytes() {
    put("replaced", "old".getBytes(StandardCharsets.UTF_8));
    ResponseBytes<GetObjectResponse> old = get("replaced", null);
    put("replaced", "new".getBytes(StandardCharsets.UTF_8));
    ResponseBytes<GetObjectResponse> renewed = get("replaced", null);

    assertThat(old.asUtf8String()).isEqualTo("old");
    assertThat(renewed.asUtf8String()).isEqualTo("new");
    expectStatus(
        412,
        () ->
            s3.getObjectAsBytes(
                b -> b.bucket(BUCKET).key("replaced").ifMatch(old.response().eTag())));
  }

  @ParameterizedTest
  @ValueSource(strings = {"a b", "plus+sign", "ümlaut/日本", "per%cent", "a&b=c?d", "tilde~x'(y)*!"})
  void unusualKeysAreServedFromTheirFiles(String key) throws Exception {
    long relayedBefore = quietStats().relayedGets();
    byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
    put(key, bytes);

    assertThat(get(key, null).asByteArray()).isEqualTo(bytes);
    assertThat(quietStats().relayedGets()).isEqualTo(relayedBefore);
  }

  @Test
  void missingKeyAndBucketAre404() {
    assertThatThrownBy(() -> get("no/such/key", null)).isInstanceOf(NoSuchKeyException.class);
    expectStatus(404, () -> s3.getObjectAsBytes(b -> b.bucket("nowhere").key(KEY)));
    expectStatus(404, () -> s3.headObject(b -> b.bucket(BUCKET).key("no/such/key")));
  }

  @Test
  void wrongSecretIs403() {
    try (S3Client stranger = client("wrong")) {
      expectStatus(403, () -> stranger.getObjectAsBytes(b -> b.bucket(BUCKET).key(KEY)));
    }
  }

  @Test
  void listAndDelete() {
    put("list/1", content);
    put("list/2", content);

    assertThat(s3.listObjectsV2(b -> b.bucket(BUCKET).prefix("list/")).contents())
        .extracting(S3Object::key)
        .containsExactly("list/1", "list/2");
    s3.deleteObject(b -> b.bucket(BUCKET).key("list/1"));
    assertThatThrownBy(() -> get("list/1", null)).isInstanceOf(NoSuchKeyException.class);
  }

  @Test
  void conditionsOfRareUseAreAnsweredByS3Proxy() throws Exception {
    String etag = s3.headObject(b -> b.bucket(BUCKET).key(KEY)).eTag();
    long relayedBefore = quietStats().relayedGets();

    expectStatus(304, () -> s3.getObjectAsBytes(b -> b.bucket(BUCKET).key(KEY).ifNoneMatch(etag)));
    assertThat(quietStats().relayedGets()).isEqualTo(relayedBefore + 1);
  }

  /** Bytes are counted when an answer is over, which the client may see first. */
  private static ServerStats quietStats() throws InterruptedException {
    awaitTrue("no request is active", () -> server.stats().activeRequests() == 0);
    return server.stats();
  }

  @Test
  void logCountsRequestsAndBytes() throws Exception {
    ServerStats before = quietStats();
    get(KEY, "bytes=0-999");
    get(KEY, "bytes=1000-1999");
    s3.headObject(b -> b.bucket(BUCKET).key(KEY));
    ServerStats after = quietStats().since(before);

    assertThat(after.of(Operation.GET_OBJECT).requests()).isEqualTo(2);
    assertThat(after.of(Operation.GET_OBJECT).bytesSent()).isEqualTo(2000);
    assertThat(after.of(Operation.GET_OBJECT).failures()).isZero();
    assertThat(after.of(Operation.HEAD_OBJECT).requests()).isEqualTo(1);
    assertThat(after.of(Operation.PUT_OBJECT).requests()).isZero();
  }

  @Slow
  @Test
  void aBucketMayHangAndAnotherShowTheSameObjects() throws Exception {
    Path root = Files.createDirectory(temp.resolve("hanging"));
    Files.createDirectory(root.resolve(BUCKET));
    Files.createSymbolicLink(root.resolve("bucket-1"), Path.of(BUCKET));
    Files.createSymbolicLink(root.resolve("bucket-hang"), Path.of(BUCKET));
    ShapedS3Server.Settings settings =
        new ShapedS3Server.Settings(
            root, 0, "access", "secret", Shape.UNSHAPED, null, null, "bucket-hang", null);
    try (ShapedS3Server hanging = ShapedS3Server.start(settings);
        S3Client client = client(hanging, "secret")) {
      client.putObject(b -> b.bucket(BUCKET).key(KEY), RequestBody.fromBytes(content));

      assertThat(client.getObjectAsBytes(b -> b.bucket("bucket-1").key(KEY)).asByteArray())
          .isEqualTo(content);
      assertThat(client.headObject(b -> b.bucket("bucket-hang").key(KEY)).contentLength())
          .as("only GETs hang")
          .isEqualTo(LENGTH);
      assertThatThrownBy(
              () ->
                  client.getObject(
                      b ->
                          b.bucket("bucket-hang")
                              .key(KEY)
                              .overrideConfiguration(o -> o.apiCallTimeout(Duration.ofSeconds(1)))))
          .isInstanceOf(ApiCallTimeoutException.class);
      assertThat(hanging.stats().of(Operation.GET_OBJECT).bytesSent()).isEqualTo(LENGTH);
    }
  }

  @Slow
  @Test
  void aBucketMayRefuseOneGetInTwenty() throws Exception {
    Path root = Files.createDirectory(temp.resolve("refusing"));
    Files.createDirectory(root.resolve(BUCKET));
    Files.createSymbolicLink(root.resolve("bucket-bad-1"), Path.of(BUCKET));
    ShapedS3Server.Settings settings =
        new ShapedS3Server.Settings(
            root, 0, "access", "secret", Shape.UNSHAPED, null, null, null, "bucket-bad");
    try (ShapedS3Server refusing = ShapedS3Server.start(settings);
        S3Client client = client(refusing, "secret")) {
      client.putObject(b -> b.bucket(BUCKET).key(KEY), RequestBody.fromBytes(content));
      for (int i = 0; i < 40; i++) {
        assertThat(client.getObjectAsBytes(b -> b.bucket("bucket-bad-1").key(KEY)).asByteArray())
            .isEqualTo(content);
      }
      assertThat(client.getObjectAsBytes(b -> b.bucket(BUCKET).key(KEY)).asByteArray())
          .isEqualTo(content);

      assertThat(refusing.stats().of(Operation.GET_OBJECT).requests())
          .as("41 that the client got, and two or three that it had to send again")
          .isBetween(43L, 44L);
    }
  }

  @Test
  void timeToFirstByteAndBandwidthAreLowerBounds() throws Exception {
    Path root = Files.createDirectory(temp.resolve("shaped"));
    Shape shape = new Shape(FirstByteTime.constant(50_000_000), 2_000_000, 0);
    ShapedS3Server.Settings settings =
        new ShapedS3Server.Settings(root, 0, "access", "secret", shape);
    try (ShapedS3Server shaped = ShapedS3Server.start(settings);
        S3Client client = client(shaped, "secret")) {
      client.createBucket(b -> b.bucket(BUCKET));
      client.putObject(b -> b.bucket(BUCKET).key(KEY), RequestBody.fromBytes(content));

      long start = System.nanoTime();
      byte[] got = client.getObjectAsBytes(b -> b.bucket(BUCKET).key(KEY)).asByteArray();
      long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);

      assertThat(got).isEqualTo(content);
      // 50 ms, and 1,000,003 bytes at 2 MB/s less the 32 ms that a sender may catch up.
      assertThat(millis).isGreaterThanOrEqualTo(50 + 500 - 32);
    }
  }
}
