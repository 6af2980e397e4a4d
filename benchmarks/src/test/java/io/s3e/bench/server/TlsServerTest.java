// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
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

/** The server over TLS, its certificate, and its back door. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class TlsServerTest {

  private static final String BUCKET = "bucket";
  private static final String KEY = "object";
  private static final int LENGTH = 2_000_003;

  @TempDir private static Path temp;
  private static SelfSignedCertificate certificate;
  private static ShapedS3Server server;
  private static byte[] content;

  @BeforeAll
  static void start() throws Exception {
    Path root = Files.createDirectory(temp.resolve("root"));
    Files.createDirectory(root.resolve(BUCKET));
    certificate = SelfSignedCertificate.create(Files.createDirectory(temp.resolve("tls")));
    server =
        ShapedS3Server.start(
            new ShapedS3Server.Settings(
                root, 0, "access", "secret", Shape.UNSHAPED, certificate, null, null, null));
    content = new byte[LENGTH];
    new Random(11).nextBytes(content);
    try (S3Client back = client(server.backEndpoint())) {
      back.putObject(b -> b.bucket(BUCKET).key(KEY), RequestBody.fromBytes(content));
    }
  }

  @AfterAll
  static void stop() throws Exception {
    server.close();
  }

  private static S3Client client(URI endpoint) {
    return S3Client.builder()
        .endpointOverride(endpoint)
        .region(Region.US_EAST_1)
        .forcePathStyle(true)
        .httpClientBuilder(
            ApacheHttpClient.builder().tlsTrustManagersProvider(certificate::trustManagers))
        .credentialsProvider(
            StaticCredentialsProvider.create(AwsBasicCredentials.create("access", "secret")))
        .build();
  }

  @Test
  void whatIsWrittenThroughTheBackIsNotCounted() {
    assertThat(server.backEndpoint().getScheme()).isEqualTo("http");
    assertThat(server.stats().of(Operation.PUT_OBJECT).requests()).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"bytes=0-0", "bytes=1-262144", "bytes=262143-1500000", "bytes=0-"})
  void rangesComeWhole(String range) throws Exception {
    try (S3Client s3 = client(server.endpoint())) {
      byte[] got = s3.getObjectAsBytes(b -> b.bucket(BUCKET).key(KEY).range(range)).asByteArray();
      ByteSpan span = ByteSpan.parse(range, LENGTH);

      assertThat(span).isNotNull();
      int start = (int) span.start();
      assertThat(got).isEqualTo(Arrays.copyOfRange(content, start, start + (int) span.length()));
    }
  }

  @Test
  void writesAndListsAreRelayed() throws Exception {
    try (S3Client s3 = client(server.endpoint())) {
      s3.putObject(b -> b.bucket(BUCKET).key("written"), RequestBody.fromBytes(content));

      assertThat(s3.getObjectAsBytes(b -> b.bucket(BUCKET).key("written")).asByteArray())
          .isEqualTo(content);
      assertThat(s3.listObjectsV2(b -> b.bucket(BUCKET)).contents()).hasSize(2);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
  void requestsInSmallPiecesAndBothVersions(String version) throws Exception {
    SSLContext context = certificate.clientContext();
    SSLEngine engine = context.createSSLEngine();
    engine.setUseClientMode(true);
    engine.setEnabledProtocols(new String[] {version});
    InetSocketAddress address = new InetSocketAddress("127.0.0.1", server.endpoint().getPort());
    try (Wire wire = new TlsWire(SocketChannel.open(address), engine)) {
      HttpReader reader = new HttpReader(wire);
      for (int round = 0; round < 3; round++) {
        byte[] request = "GET /bucket/none HTTP/1.1\r\nHost: x\r\n\r\n".getBytes();
        for (byte each : request) {
          wire.write(ByteBuffer.wrap(new byte[] {each}));
        }
        HttpHead answer = reader.readHead();
        assertThat(answer).isNotNull();
        assertThat(answer.status()).isEqualTo(404);
        reader.relayBody(answer, piece -> {});
      }
    }
  }

  @Test
  void aPeerThatIsNoTlsClientDisturbsNobody() throws Exception {
    InetSocketAddress address = new InetSocketAddress("127.0.0.1", server.endpoint().getPort());
    try (SocketChannel stranger = SocketChannel.open(address)) {
      stranger.write(ByteBuffer.wrap("GET / HTTP/1.1\r\n\r\n".getBytes()));
      ByteBuffer answer = ByteBuffer.allocate(1000);
      while (stranger.read(answer) >= 0) {
        continue;
      }
    }
    rangesComeWhole("bytes=5-9");
  }
}
