// SPDX-License-Identifier: Apache-2.0
package io.s3e.iceberg;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.testing.Fault;
import io.s3e.testing.ForkedJvm;
import io.s3e.testing.Slow;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.aws.s3.S3FileIO;
import org.apache.iceberg.io.SeekableInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.auth.signer.AwsS3V4Signer;
import software.amazon.awssdk.core.client.config.SdkAdvancedClientOption;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.auth.aws.scheme.AwsV4AuthScheme;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;
import software.amazon.awssdk.identity.spi.AwsCredentialsIdentity;
import software.amazon.awssdk.identity.spi.IdentityProvider;
import software.amazon.awssdk.identity.spi.IdentityProviders;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.endpoints.S3EndpointProvider;

/** What a company puts into the SDK's clients is Iceberg's client's to send. */
class ForeignPartsTest {
  private static final String KEY_STORE = "javax.net.ssl.keyStore";
  private static final String HEADER = "x-company";

  @AfterEach
  void forgetKeyStore() {
    System.clearProperty(KEY_STORE);
  }

  /** Adds the header without which a company's gateway refuses. */
  public static final class Company implements ExecutionInterceptor {
    @Override
    public SdkHttpRequest modifyHttpRequest(
        Context.ModifyHttpRequest context, ExecutionAttributes attributes) {
      return context.httpRequest().copy(request -> request.putHeader(HEADER, "yes"));
    }
  }

  private static final class Scheme implements AwsV4AuthScheme {
    private final AwsV4AuthScheme sdks = AwsV4AuthScheme.create();

    @Override
    public String schemeId() {
      return sdks.schemeId();
    }

    @Override
    public IdentityProvider<AwsCredentialsIdentity> identityProvider(IdentityProviders providers) {
      return sdks.identityProvider(providers);
    }

    @Override
    public AwsV4HttpSigner signer() {
      return sdks.signer();
    }
  }

  private enum Part {
    NONE("") {
      @Override
      void put(S3ClientBuilder client) {}
    },
    INTERCEPTOR("it has the interceptor " + Company.class.getName()) {
      @Override
      void put(S3ClientBuilder client) {
        client.overrideConfiguration(o -> o.addExecutionInterceptor(new Company()));
      }
    },
    SIGNER("its signer is software.amazon.awssdk.auth.signer.AwsS3V4Signer") {
      @Override
      @SuppressWarnings("deprecation") // As those do who sign in a way of their own.
      void put(S3ClientBuilder client) {
        client.overrideConfiguration(
            o -> o.putAdvancedOption(SdkAdvancedClientOption.SIGNER, AwsS3V4Signer.create()));
      }
    },
    SCHEME("it signs by " + Scheme.class.getName()) {
      @Override
      void put(S3ClientBuilder client) {
        client.putAuthScheme(new Scheme());
      }
    },
    ENDPOINTS("its endpoints come from " + ForeignPartsTest.class.getName()) {
      @Override
      void put(S3ClientBuilder client) {
        S3EndpointProvider sdks = S3EndpointProvider.defaultProvider();
        client.endpointProvider(asked -> sdks.resolveEndpoint(asked));
      }
    };

    private final String reason;

    Part(String reason) {
      this.reason = reason;
    }

    abstract void put(S3ClientBuilder client);
  }

  @ParameterizedTest
  @EnumSource
  void eachIsAReasonForIcebergsClient(Part part) {
    S3ClientBuilder builder =
        S3Client.builder()
            .region(Region.US_EAST_1)
            .credentialsProvider(
                StaticCredentialsProvider.create(AwsBasicCredentials.create("id", "secret")));
    part.put(builder);
    try (S3Client client = builder.build()) {
      String reason = ClientView.of(client, Map.of()).reasonAgainstOwn();
      assertThat(reason == null ? "" : reason).startsWith(part.reason);
      assertThat(reason == null).isEqualTo(part == Part.NONE);
    }
  }

  /** By each HTTP client and option of Iceberg's that puts something into the SDK's client. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "s3.endpoint=https://127.0.0.1:1",
        "http-client.type=apache",
        "s3.cross-region-access-enabled=true",
        "s3.dualstack-enabled=true",
        "s3.chunked-encoding-enabled=false",
        "s3.checksum-enabled=true",
        "s3.use-arn-region-enabled=true"
      })
  void icebergsOwnClientHasNone(String property) {
    try (S3FileIO io = new S3FileIO()) {
      Map<String, String> properties =
          Map.of(
              "client.region",
              "us-east-1",
              "s3.access-key-id",
              "id",
              "s3.secret-access-key",
              "secret",
              property.substring(0, property.indexOf('=')),
              property.substring(property.indexOf('=') + 1));
      io.initialize(properties);
      assertThat(ClientView.of(io.client(), properties).reasonAgainstOwn()).isNull();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"http", "https"})
  void aKeyStoreOfTheJvmIsAReasonWhereTheStoreAsksByTls(String scheme) {
    System.setProperty(KEY_STORE, "keys.p12");
    URI store = URI.create(scheme + "://127.0.0.1:9000");
    try (S3Client client =
        S3Client.builder()
            .region(Region.US_EAST_1)
            .endpointOverride(store)
            .credentialsProvider(
                StaticCredentialsProvider.create(AwsBasicCredentials.create("id", "secret")))
            .build()) {
      String reason = ClientView.of(client, Map.of()).reasonAgainstOwn();
      assertThat(reason).isEqualTo(scheme.equals("https") ? KEY_STORE + " is \"keys.p12\"" : null);
    }
  }

  /** The SDK finds such a file on the class path, for each of its clients. */
  @Test
  @Slow
  void whatAnInterceptorOfTheClassPathSendsIsSent(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("software/amazon/awssdk/global/handlers/execution.interceptors");
    Files.createDirectories(file.getParent());
    Files.writeString(file, Company.class.getName());
    List<String> classPath = List.of(directory.toString(), System.getProperty("java.class.path"));
    try (HostileStore store = new HostileStore()) {
      store.put("data/file", new byte[] {1, 2, 3});
      store.server.decideAll(
          request ->
              request.header(HEADER) == null ? Fault.status(403, "AccessDenied") : Fault.none());
      try (ForkedJvm jvm =
          ForkedJvm.of(Reader.class.getName())
              .options("-Xmx128m")
              .classPath(classPath)
              .start(store.server.endpoint().toString())) {
        List<String> others = new ArrayList<>();
        assertThat(jvm.await("read ", others)).isEqualTo("3 by iceberg");
        assertThat(others)
            .filteredOn(line -> line.contains("since it has the interceptor"))
            .hasSize(1)
            .allMatch(line -> line.contains(Company.class.getName()));
      }
    }
  }

  /** The JVM's program. */
  static final class Reader {
    private Reader() {}

    public static void main(String[] arguments) throws Exception {
      S3EFileIO io = new S3EFileIO();
      io.initialize(
          Map.of(
              "s3.endpoint", arguments[0],
              "s3.path-style-access", "true",
              "s3.access-key-id", "catalogs",
              "s3.secret-access-key", "secret",
              "client.region", "us-east-1"));
      String location = HostileStore.location("data/file");
      try (io;
          SeekableInputStream in = io.newInputFile(location, 3).newStream()) {
        int count = in.readAllBytes().length;
        System.out.println(
            "read " + count + " by " + StreamTenants.tenant(io, location).client().name());
      }
    }
  }
}
