// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.testing.MemoryObjectClient;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/**
 * A read of which a part is in memory that is full: the part is there when the read comes to it.
 */
class RestInMemoryTest {
  private static final int BLOCK = 64 << 10;
  private static final int MEMORY_BLOCKS = 16;
  private static final int BLOCKS = 64;
  private static final ObjectRef OBJECT = new ObjectRef("bucket", "key");

  @Test
  void whatIsThereIsNotEvictedForTheFirstBlockOfTheSameRead() throws Exception {
    MemoryObjectClient client = new MemoryObjectClient(ClientLimits.copying(8 * BLOCK, 8, 0));
    byte[] content = MemoryObjectClient.bytes(BLOCKS * BLOCK, 7);
    client.put(OBJECT, content, "\"v1\"");
    S3EConfig config =
        S3EConfig.DEFAULTS.toBuilder()
            .blockBytes(BLOCK)
            .requestBytes(8 * BLOCK)
            .prefetch(false)
            .build();
    OpenOptions random = OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM);
    MemoryBudget budget = new MemoryBudget((long) MEMORY_BLOCKS * BLOCK);
    try (S3E engine = S3E.create(config, budget, granted -> client);
        S3EInputStream in = engine.open(OBJECT, random)) {
      byte[] one = new byte[BLOCK];
      // The oldest of all, and so the first to go.
      in.readFullyAt(2 * BLOCK, one, 0, BLOCK);
      for (int block = BLOCKS - 1; block > BLOCKS - MEMORY_BLOCKS; block--) {
        in.readFullyAt((long) block * BLOCK, one, 0, BLOCK);
      }
      int before = client.gets().size();
      assertThat(before).isEqualTo(MEMORY_BLOCKS);

      byte[] two = new byte[2 * BLOCK];
      in.readFullyAt(BLOCK, two, 0, 2 * BLOCK);
      assertThat(two).isEqualTo(Arrays.copyOfRange(content, BLOCK, 3 * BLOCK));
      assertThat(client.gets()).hasSize(before + 1);
    }
  }
}
