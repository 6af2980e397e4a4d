// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.testing.Slow;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.apache.ApacheHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;

@Slow
class ManyConnectionsTest {

  private static final int CONNECTIONS = 300;
  private static final int REQUEST_BYTES = 100_000;
  private static final AwsBasicCredentials CREDENTIALS =
      AwsBasicCredentials.create("access", "secret");

  @TempDir private Path temp;

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @Timeout(value = 120, unit = TimeUnit.SECONDS)
  void threeHundredAreServedAtOnce(boolean tls) throws Exception {
    Path root = Files.createDirectories(temp.resolve("root"));
    Files.createDirectory(root.resolve("bucket"));
    // Long enough that the last has asked before the first is answered.
    FirstByteTime wait = FirstByteTime.constant(TimeUnit.SECONDS.toNanos(3));
    SelfSignedCertificate certificate = tls ? SelfSignedCertificate.create(temp) : null;
    ShapedS3Server.Settings settings =
        new ShapedS3Server.Settings(
            root, 0, "access", "secret", new Shape(wait, 0, 0), certificate, null, null, null);
    ExecutorService reader = Executors.newSingleThreadExecutor();
    try (ShapedS3Server server = ShapedS3Server.start(settings)) {
      write(server.backEndpoint());
      CheckClient client =
          new CheckClient(server.endpoint(), "/bucket/object", 1_000_000, CREDENTIALS, certificate);
      Future<Long> read = reader.submit(() -> client.read(CONNECTIONS, 1, REQUEST_BYTES));
      awaitTrue(
          "all have asked",
          () -> {
            assertThat(read.isDone()).as("answered before all had asked").isFalse();
            return server.stats().activeRequests() >= CONNECTIONS;
          });
      read.get();
      awaitTrue("all are answered", () -> server.stats().activeRequests() == 0);
      ServerStats.Counts gets = server.stats().of(Operation.GET_OBJECT);

      assertThat(gets.requests()).isEqualTo(CONNECTIONS);
      assertThat(gets.bytesSent()).isEqualTo((long) CONNECTIONS * REQUEST_BYTES);
      assertThat(gets.aborted()).isZero();
    } finally {
      reader.shutdownNow();
    }
  }

  private static void write(URI endpoint) {
    try (S3Client s3 =
        S3Client.builder()
            .endpointOverride(endpoint)
            .region(Region.US_EAST_1)
            .forcePathStyle(true)
            .httpClientBuilder(ApacheHttpClient.builder())
            .credentialsProvider(StaticCredentialsProvider.create(CREDENTIALS))
            .build()) {
      s3.putObject(
          put -> put.bucket("bucket").key("object"), RequestBody.fromBytes(new byte[1_000_000]));
    }
  }
}
