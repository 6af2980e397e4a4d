// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.aws.AwsClients;
import io.s3e.stream.S3EInputStream;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.S3ProxyServer;
import io.s3e.testing.Slow;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A store that answers late, by the settings that nobody has changed. */
@Timeout(120)
@Tag("waits")
class SlowStoreTest {
  private static final ObjectRef OBJECT = new ObjectRef("bucket", "key");

  /** Longer than a transport may take as a rule, and than a reader waits for a GET at first. */
  private static final Duration LATE = Duration.ofSeconds(4);

  private final byte[] content = MemoryObjectClient.bytes(60_000, 3);

  @Test
  @Slow
  void answersThatComeAfterSecondsAreRead() throws Exception {
    MemoryBudget budget = new MemoryBudget(64L << 20);
    try (HostileS3Server server = HostileS3Server.start()) {
      server.put(OBJECT, content);
      AwsClientSettings settings =
          AwsClientSettings.builder()
              .endpoint(server.endpoint())
              .region(S3ProxyServer.REGION)
              .pathStyle(true)
              .anonymous(true)
              .build();
      assertThat(settings.stallTimeout())
          .as("as long as the engine waits for a GET that it sends again and again")
          .isEqualTo(S3EConfig.DEFAULTS.stallTimeout().multipliedBy(16));
      try (S3E s3e = S3E.create(S3EConfig.DEFAULTS, budget, AwsClients.crt(settings))) {
        try (S3EInputStream in = s3e.open(OBJECT)) {
          byte[] first = new byte[1000];
          in.readFullyAt(0, first, 0, first.length);
          assertThat(first).isEqualTo(Arrays.copyOf(content, first.length));
        }
        server.put(new ObjectRef("bucket", "late"), content);
        server.decideAll(request -> Fault.delay(LATE));
        long began = System.nanoTime();
        try (S3EInputStream in = s3e.open(new ObjectRef("bucket", "late"))) {
          assertThat(in.readAllBytes()).isEqualTo(content);
        }
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThan(LATE.multipliedBy(2));
      }
    }
    assertThat(budget.reserved()).isZero();
  }
}
