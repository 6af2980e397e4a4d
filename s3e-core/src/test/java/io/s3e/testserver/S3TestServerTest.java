// SPDX-License-Identifier: Apache-2.0
package io.s3e.testserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.testing.Slow;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.apache.ApacheHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.ObjectIdentifier;
import software.amazon.awssdk.services.s3.model.S3Exception;

@Slow
class S3TestServerTest {
  @Test
  void servesRangesOfWhatWasPut() throws Exception {
    try (S3TestServer server = S3TestServer.inMemory().withBucket("bucket")) {
      readsBack(server);
    }
  }

  @Test
  void keepsObjectsInADirectory(@TempDir Path directory) throws Exception {
    try (S3TestServer server = S3TestServer.onDisk(directory).withBucket("bucket")) {
      readsBack(server);
      assertThat(directory.resolve("bucket/key")).hasContent("0123456789");
    }
  }

  @Test
  void refusesAWrongSecret() throws Exception {
    try (S3TestServer server = S3TestServer.inMemory().withBucket("bucket");
        S3Client client = client(server, "wrong")) {
      assertThatThrownBy(() -> client.headObject(b -> b.bucket("bucket").key("key")))
          .isInstanceOfSatisfying(
              S3Exception.class, e -> assertThat(e.statusCode()).isEqualTo(403));
    }
  }

  /** A bulk delete removes its keys in parallel, and a marker's key is a directory of the store. */
  @Test
  @Slow
  void leavesNothingOfDirectoriesDeletedInBulk() throws Exception {
    try (S3TestServer server = S3TestServer.inMemory().withBucket("bucket");
        S3Client client = client(server, S3TestServer.SECRET_KEY)) {
      List<String> keys =
          IntStream.range(0, 10)
              .boxed()
              .flatMap(i -> Stream.of("dir" + i + "/", "dir" + i + "/sub/file"))
              .toList();
      for (int round = 0; round < 8; round++) {
        keys.forEach(
            key -> client.putObject(b -> b.bucket("bucket").key(key), RequestBody.empty()));
        client.deleteObjects(
            b ->
                b.bucket("bucket")
                    .delete(
                        d ->
                            d.objects(
                                keys.stream()
                                    .map(key -> ObjectIdentifier.builder().key(key).build())
                                    .toList())));
        ListObjectsV2Response left = client.listObjectsV2(b -> b.bucket("bucket").delimiter("/"));
        assertThat(left.commonPrefixes()).as("round %d", round).isEmpty();
        assertThat(left.contents()).as("round %d", round).isEmpty();
      }
    }
  }

  private static void readsBack(S3TestServer server) {
    try (S3Client client = client(server, S3TestServer.SECRET_KEY)) {
      client.putObject(b -> b.bucket("bucket").key("key"), RequestBody.fromString("0123456789"));
      assertThat(
              client
                  .getObjectAsBytes(b -> b.bucket("bucket").key("key").range("bytes=3-5"))
                  .asUtf8String())
          .isEqualTo("345");
    }
  }

  private static S3Client client(S3TestServer server, String secret) {
    return S3Client.builder()
        .endpointOverride(server.endpoint())
        .region(Region.US_EAST_1)
        .forcePathStyle(true)
        .httpClientBuilder(ApacheHttpClient.builder())
        .credentialsProvider(
            StaticCredentialsProvider.create(
                AwsBasicCredentials.create(S3TestServer.ACCESS_KEY, secret)))
        .build();
  }
}
