// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.aws;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.client.ClientMemory;
import io.s3e.client.CredentialsSource;
import io.s3e.client.EveryClient;
import io.s3e.client.GetRequest;
import io.s3e.client.HeadRequest;
import io.s3e.client.ObjectClient;
import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.testing.ForkedJvm;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.RecordingHandler;
import io.s3e.testing.SelfSigned;
import io.s3e.testing.Slow;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which certificates the clients trust. */
@Tag("waits")
class TlsTest {
  private static final ClientMemory MEMORY = new ClientMemory(32L << 20, 1 << 20, 64 << 10);
  private static final ObjectRef OBJECT = new ObjectRef("bucket", "object");

  @TempDir static Path dir;
  private static SelfSigned certificate;
  private static HostileS3Server server;
  private static byte[] content;

  @BeforeAll
  static void start() throws Exception {
    certificate = SelfSigned.create(dir);
    server = HostileS3Server.startTls(certificate.serverContext());
    content = new byte[700_000];
    new Random(20260807).nextBytes(content);
    server.put(OBJECT, content);
  }

  @AfterAll
  static void stop() throws Exception {
    server.close();
  }

  @Test
  void aCertificateAuthorityFromAFileIsTrusted() throws Exception {
    try (ObjectClient client = open(settings().caFile(certificate.pem()).build())) {
      reads(client);
    }
  }

  /** As a company's authority is given to a JVM. */
  @Test
  void whatTheJvmTrustsIsTrusted() throws Exception {
    withTrustStore(
        certificate.trustStore(dir.resolve("jvm.p12")),
        () -> {
          try (ObjectClient client = open(settings().build())) {
            reads(client);
          }
        });
  }

  @Test
  void aJvmThatTrustsNobodyLeavesNothingToTheCrt() throws Exception {
    withTrustStore(
        Path.of("NONE"),
        () -> {
          assertThat(JvmTrust.authorities()).isEmpty();
          assertThatIllegalStateException()
              .isThrownBy(() -> open(settings().build()))
              .withMessageContaining("certificate authority")
              .withMessageContaining("SDK can be given instead");
        });
  }

  @Test
  void theJvmIsAskedAgainAndItsAnswerEncodedOnce() throws Exception {
    List<String> usual = JvmTrust.authorities();
    assertThat(usual.size()).isGreaterThan(50);
    assertThat(JvmTrust.authorities() == usual).isTrue();
    withTrustStore(
        certificate.trustStore(dir.resolve("changed.p12")),
        () -> assertThat(String.join("", JvmTrust.authorities())).isEqualTo(pemFile()));
    assertThat(JvmTrust.authorities().equals(usual)).isTrue();
  }

  @Test
  void anUnknownCertificateIsAFailureOfTls() throws Exception {
    try (ObjectClient client = EveryClient.APACHE.provider(settings().build()).create(MEMORY)) {
      assertThat(get(client, false).awaitFailure().kind()).isEqualTo(Kind.TLS);
    }
  }

  /** The CRT's TLS library makes a failed handshake last 10 to 30 s, so both are cut short. */
  @Test
  @Slow
  void theCrtDoesNotReadFromAnUnknownServerEither() throws Exception {
    server.forgetRequests();
    RecordingHandler handler;
    AwsClientSettings.Builder brief = settings().requestTimeout(Duration.ofSeconds(2));
    try (ObjectClient client = open(brief.build())) {
      handler = get(client, false);
      assertThatExceptionOfType(RequestFailure.class)
          .isThrownBy(() -> client.head(new HeadRequest(OBJECT, null, Map.of(), null)))
          .satisfies(e -> assertThat(e.kind()).isIn(Kind.NETWORK, Kind.TLS));
    }
    assertThat(handler.awaitFailure().kind()).isIn(Kind.TLS, Kind.CANCELLED);
    assertThat(server.requests()).isEmpty();
  }

  /** As by JVMs, which speak no older ones either. */
  @ParameterizedTest
  @Slow
  @CsvSource({"TLSv1.1, refused", "TLSv1.2, agreed", "TLSv1.3, agreed"})
  void theCrtSpeaksTls12AndNewer(String version, String end) throws Exception {
    Path all = Files.writeString(dir.resolve("all.security"), "jdk.tls.disabledAlgorithms=\n");
    try (ForkedJvm old =
        ForkedJvm.of(OneTlsVersion.class.getName())
            .options("-Djava.security.properties=" + all)
            .start(certificate.keyStore().toString(), version)) {
      URI endpoint = URI.create("https://127.0.0.1:" + old.await("port"));
      AwsClientSettings.Builder toOld = settings().caFile(certificate.pem()).endpoint(endpoint);
      try (ObjectClient client = open(toOld.build())) {
        RecordingHandler unused = get(client, false);
        assertThat(old.await("handshake")).startsWith(end);
      }
    }
  }

  @Test
  void aFileWithoutCertificatesIsRefused() throws Exception {
    Path missing = dir.resolve("missing.pem");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> open(settings().caFile(missing).build()))
        .withMessageContaining("missing.pem");
    Path empty = Files.createTempFile(dir, "empty", ".pem");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> open(settings().caFile(empty).build()))
        .withMessageContaining(empty.getFileName().toString());
  }

  private static String pemFile() throws Exception {
    return Files.readString(certificate.pem());
  }

  private interface Check {
    void run() throws Exception;
  }

  private static void withTrustStore(Path store, Check check) throws Exception {
    System.setProperty("javax.net.ssl.trustStore", store.toString());
    System.setProperty("javax.net.ssl.trustStorePassword", SelfSigned.PASSWORD);
    try {
      check.run();
    } finally {
      System.clearProperty("javax.net.ssl.trustStore");
      System.clearProperty("javax.net.ssl.trustStorePassword");
    }
  }

  private static void reads(ObjectClient client) throws Exception {
    for (boolean lend : new boolean[] {false, client.limits().lends()}) {
      assertThat(get(client, lend).awaitDone()).isEqualTo(Arrays.copyOf(content, 60_000));
    }
    assertThat(client.head(new HeadRequest(OBJECT, null, Map.of(), null)).size())
        .isEqualTo(content.length);
  }

  private static RecordingHandler get(ObjectClient client, boolean lend) {
    RecordingHandler handler = new RecordingHandler();
    client.get(
        new GetRequest(OBJECT, new ByteRange(0, 60_000), null, null, lend, Map.of(), null),
        handler);
    return handler;
  }

  private static ObjectClient open(AwsClientSettings settings) {
    return AwsClients.crt(settings).create(MEMORY);
  }

  private static AwsClientSettings.Builder settings() {
    return AwsClientSettings.builder()
        .endpoint(server.endpoint())
        .region("us-east-1")
        .pathStyle(true)
        .requestTimeout(Duration.ofSeconds(5))
        .credentials(CredentialsSource.of("access", "secret"));
  }
}
