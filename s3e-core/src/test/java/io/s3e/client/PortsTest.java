// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.stream.S3EInputStream;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.S3ProxyServer;
import io.s3e.testing.Slow;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Two stores that differ in nothing but the port, read by one JVM. */
class PortsTest {
  private static final int BYTES = 4 << 20;
  private static final ObjectRef OBJECT = new ObjectRef("bucket", "key");

  private final MemoryBudget budget = new MemoryBudget(128L << 20);

  @ParameterizedTest
  @EnumSource
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  @Slow
  void storesOfOneHostAreApart(EveryClient client) throws Exception {
    try (HostileS3Server one = HostileS3Server.start();
        HostileS3Server other = HostileS3Server.start();
        S3E ofOne = engine(client, one);
        S3E ofOther = engine(client, other)) {
      byte[] here = MemoryObjectClient.bytes(BYTES, 1);
      byte[] there = MemoryObjectClient.bytes(BYTES, 2);
      one.put(OBJECT, here);
      other.put(OBJECT, there);

      for (int round = 0; round < 3; round++) {
        assertThat(read(ofOne)).isEqualTo(here);
        assertThat(read(ofOther)).isEqualTo(there);
      }
      one.close();
      assertThat(read(ofOther)).isEqualTo(there);
    }
  }

  private S3E engine(EveryClient client, HostileS3Server server) {
    AwsClientSettings settings =
        AwsClientSettings.builder()
            .endpoint(server.endpoint())
            .region(S3ProxyServer.REGION)
            .pathStyle(true)
            .credentials(CredentialsSource.of("access", "secret"))
            .build();
    S3EConfig config =
        S3EConfig.DEFAULTS.toBuilder()
            .requestBytes(1 << 20)
            .readTimeout(Duration.ofSeconds(5))
            .build();
    return S3E.create(config, budget, memory -> client.open(settings, memory));
  }

  private static byte[] read(S3E engine) throws Exception {
    byte[] bytes = new byte[BYTES];
    try (S3EInputStream in = engine.open(OBJECT, OpenOptions.DEFAULTS)) {
      in.readFully(bytes, 0, BYTES);
    }
    return bytes;
  }
}
