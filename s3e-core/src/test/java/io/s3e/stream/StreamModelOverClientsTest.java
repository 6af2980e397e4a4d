// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.EveryClient;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.given.SdkCredentials;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.S3ProxyServer;
import io.s3e.testing.Seed;
import io.s3e.testing.Slow;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The same programs over every real client, against a real S3 server. */
@Timeout(300)
@Slow
class StreamModelOverClientsTest {
  private static final int BLOCK = 64 << 10;
  private static final int REQUEST = 1 << 20;
  private static final String BUCKET = "model";

  @RegisterExtension static final S3ProxyServer SERVER = S3ProxyServer.signed();

  @BeforeAll
  static void createBucket() {
    SERVER.createBucket(BUCKET);
  }

  @ParameterizedTest
  @EnumSource
  void readsWhatAnArrayHolds(EveryClient kind) throws Exception {
    long seed = Seed.draw();
    Random random = new Random(seed);
    AwsClientSettings settings =
        AwsClientSettings.builder()
            .endpoint(SERVER.endpoint())
            .region(S3ProxyServer.REGION)
            .pathStyle(true)
            .credentials(new SdkCredentials(SERVER.credentials()))
            .build();
    S3EConfig config =
        S3EConfig.DEFAULTS.toBuilder().blockBytes(BLOCK).requestBytes(REQUEST).build();
    MemoryBudget budget = new MemoryBudget(64L << 20);
    int[] sizes = {0, 1, BLOCK - 1, BLOCK, BLOCK + 1, REQUEST + 1, 5 * REQUEST + 12345};
    try (S3E engine = S3E.create(config, budget, kind.provider(settings))) {
      for (int size : sizes) {
        byte[] expected = MemoryObjectClient.bytes(size, seed + size);
        ObjectRef object = new ObjectRef(BUCKET, "object of " + size);
        String etag = SERVER.put(BUCKET, object.key(), expected);
        for (int round = 0; round < 2; round++) {
          OpenOptions options =
              round == 0
                  ? OpenOptions.DEFAULTS
                  : OpenOptions.DEFAULTS.withSize(size).withVersion(etag, null);
          try (S3EInputStream in = engine.open(object, options)) {
            new ReadProgram(BLOCK).run(in, expected, random);
          }
        }
      }
    }
    assertThat(budget.reserved()).isZero();
  }
}
