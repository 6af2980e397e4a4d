// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.aws;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ObjectRef;
import io.s3e.client.CredentialsSource;
import io.s3e.client.RequestFailure;
import io.s3e.stream.S3EInputStream;
import io.s3e.testing.ForkedJvm;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.Slow;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/** A JVM whose class path has aws-crt and nothing else of AWS's reads by S3E. */
@Slow
class WithoutSdkTest {
  private static final ObjectRef OBJECT = new ObjectRef("bucket", "a key");
  private static final int SIZE = 3_000_000;

  @Test
  void aJvmWithoutTheSdkReads() throws Exception {
    List<String> classPath =
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
            .filter(entry -> !entry.contains("awssdk") || entry.contains("aws-crt"))
            .filter(entry -> !entry.contains("amazonaws"))
            .toList();
    byte[] content = new byte[SIZE];
    new Random(20261125).nextBytes(content);
    CRC32C expected = new CRC32C();
    expected.update(content);
    try (HostileS3Server server = HostileS3Server.start()) {
      server.put(OBJECT, content);
      try (ForkedJvm jvm =
          ForkedJvm.of(Reader.class.getName())
              .options("-Xmx128m")
              .classPath(classPath)
              .start(server.endpoint().toString())) {
        assertThat(jvm.await("the SDK ")).isEqualTo("is absent");
        assertThat(jvm.await("read ")).isEqualTo(String.valueOf(expected.getValue()));
        assertThat(jvm.await("no credentials: ")).contains("CREDENTIALS", "the vault is closed");
        assertThat(jvm.await("by default: "))
            .isEqualTo(
                "credentials is not set, and the AWS SDK that would find it is not on the class"
                    + " path");
        assertThat(jvm.await("by default: ")).startsWith("region is not set");
      }
      assertThat(server.gets()).isNotEmpty();
      assertThat(server.requests())
          .allSatisfy(
              request -> {
                assertThat(request.header("Authorization"))
                    .contains("Credential=access/", "/eu-west-1/s3/");
                assertThat(request.header("x-amz-security-token")).isEqualTo("token");
              });
    }
  }

  /** The JVM's program. */
  static final class Reader {
    private Reader() {}

    public static void main(String[] arguments) throws IOException {
      try {
        Class.forName("software.amazon.awssdk.core.SdkClient");
        System.out.println("the SDK is there");
      } catch (ClassNotFoundException e) {
        System.out.println("the SDK is absent");
      }
      AwsClientSettings.Builder settings =
          AwsClientSettings.builder()
              .endpoint(URI.create(arguments[0]))
              .region("eu-west-1")
              .pathStyle(true);
      read(
          settings
              .credentials(
                  () -> new CredentialsSource.Credentials("access", "secret", "token", null))
              .build());
      try {
        read(
            settings
                .credentials(
                    () -> {
                      throw new IOException("the vault is closed");
                    })
                .build());
      } catch (IOException e) {
        RequestFailure failure = (RequestFailure) e.getCause();
        System.out.println("no credentials: " + failure.kind() + " " + failure.getMessage());
      }
      byDefault(settings.credentials(null).build());
      byDefault(AwsClientSettings.builder().anonymous(true).build());
    }

    private static void read(AwsClientSettings settings) throws IOException {
      try (S3E engine = S3E.create(S3EConfig.DEFAULTS, AwsClients.crt(settings));
          S3EInputStream in = engine.open(OBJECT)) {
        byte[] bytes = new byte[(int) in.size()];
        in.readFullyAt(0, bytes, 0, bytes.length);
        CRC32C sum = new CRC32C();
        sum.update(bytes);
        System.out.println("read " + sum.getValue());
      }
    }

    private static void byDefault(AwsClientSettings settings) throws IOException {
      try {
        read(settings);
      } catch (IllegalArgumentException e) {
        System.out.println("by default: " + e.getMessage());
      }
    }
  }
}
