// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.s3e.testing.Eventually;
import io.s3e.testing.Slow;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.apache.ApacheHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;

/** The file with a line of every request. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class RequestLogTest {

  private static final int FIRST_BYTE_MILLIS = 5;

  @TempDir private Path temp;

  private List<JsonNode> lines(Path file) throws Exception {
    List<JsonNode> lines = new ArrayList<>();
    for (String line : Files.readAllLines(file)) {
      lines.add(new ObjectMapper().readTree(line));
    }
    return lines;
  }

  @Test
  @Slow
  void everyRequestHasALine() throws Exception {
    Path file = temp.resolve("requests.jsonl");
    Shape shape =
        new Shape(FirstByteTime.constant(TimeUnit.MILLISECONDS.toNanos(FIRST_BYTE_MILLIS)), 0, 0);
    Instant before = Instant.now();
    ShapedS3Server.Settings settings =
        new ShapedS3Server.Settings(temp, 0, "access", "secret", shape, null, file, null, null);
    try (ShapedS3Server server = ShapedS3Server.start(settings);
        S3Client s3 =
            S3Client.builder()
                .endpointOverride(server.endpoint())
                .region(Region.US_EAST_1)
                .forcePathStyle(true)
                .httpClientBuilder(ApacheHttpClient.builder())
                .credentialsProvider(
                    StaticCredentialsProvider.create(
                        AwsBasicCredentials.create("access", "secret")))
                .build()) {
      s3.createBucket(b -> b.bucket("bucket"));
      s3.putObject(b -> b.bucket("bucket").key("a b"), RequestBody.fromBytes(new byte[1000]));
      s3.getObjectAsBytes(b -> b.bucket("bucket").key("a b").range("bytes=10-29"));
      s3.headObject(b -> b.bucket("bucket").key("a b"));
      Eventually.awaitTrue(
          "a flushed file has all requests while the server runs",
          () -> {
            server.flushRequestLog();
            return Files.readAllLines(file).size() == 4;
          });
    }
    List<JsonNode> lines = lines(file);

    assertThat(lines)
        .extracting(line -> line.get("operation").asText())
        .containsExactly("CREATE_BUCKET", "PUT_OBJECT", "GET_OBJECT", "HEAD_OBJECT");
    JsonNode put = lines.get(1);
    assertThat(put.get("received").asLong()).isGreaterThanOrEqualTo(1000);
    assertThat(put.get("relayed").asBoolean()).isTrue();
    assertThat(put.has("range")).isFalse();
    JsonNode get = lines.get(2);
    assertThat(get.get("path").asText()).isEqualTo("/bucket/a%20b");
    assertThat(get.get("range").asText()).isEqualTo("bytes=10-29");
    assertThat(get.get("agent").asText()).contains("aws-sdk-java");
    assertThat(get.get("status").asInt()).isEqualTo(206);
    assertThat(get.get("sent").asLong()).isEqualTo(20);
    assertThat(get.get("complete").asBoolean()).isTrue();
    assertThat(get.get("relayed").asBoolean()).isFalse();
    assertThat(get.get("waitMicros").asLong()).isGreaterThanOrEqualTo(FIRST_BYTE_MILLIS * 1000);
    assertThat(get.get("durationMicros").asLong())
        .isGreaterThanOrEqualTo(get.get("waitMicros").asLong());
    assertThat(Instant.parse(get.get("time").asText())).isBetween(before, Instant.now());
  }
}
