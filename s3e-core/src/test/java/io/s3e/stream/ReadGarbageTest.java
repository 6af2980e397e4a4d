// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.fetch.ExplainConfig;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.testing.GetLines;
import io.s3e.testing.MemoryObjectClient;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What reads of bytes in memory allocate on the heap does not depend on what is kept of the GETs
 * that brought them.
 */
@Timeout(120)
class ReadGarbageTest {
  private static final int BLOCKS = 16;
  private static final int READS = 2_000;
  private static final int ROUNDS = 50;

  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  @Test
  void itIsTheSameWhateverIsKept() throws Exception {
    assumeTrue(threads.isThreadAllocatedMemorySupported(), "this JVM does not count");
    List<ExplainConfig> levels =
        List.of(new ExplainConfig(false, null), ExplainConfig.DEFAULTS, new GetLines().config());
    List<Long> least = new ArrayList<>();
    for (ExplainConfig level : levels) {
      least.add(leastGarbage(level));
    }
    System.out.println("bytes allocated by " + READS + " reads, with off, recent and all: " + least);
    assertThat(least).allMatch(bytes -> bytes.equals(least.get(0)));
  }

  /** Of many rounds: a JVM compiles meanwhile, and measures itself. */
  private long leastGarbage(ExplainConfig level) throws IOException {
    MemoryObjectClient client =
        new MemoryObjectClient(ClientLimits.copying(EngineFixture.REQUEST, 4, 0));
    client.put(
        EngineFixture.OBJECT,
        MemoryObjectClient.bytes(BLOCKS * EngineFixture.BLOCK, 1),
        EngineFixture.ETAG);
    S3EConfig config = S3EConfig.DEFAULTS.toBuilder().explain(level).build();
    MemoryBudget budget = new MemoryBudget(8L * BLOCKS * EngineFixture.BLOCK);
    OpenOptions options = OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM);
    byte[] target = new byte[100];
    try (S3E engine = S3E.create(config, budget, granted -> client);
        S3EInputStream in = engine.open(EngineFixture.OBJECT, options)) {
      readAll(in, target);
      long gets = engine.metrics().get(Counter.GETS);
      long least = Long.MAX_VALUE;
      for (int round = 0; round < ROUNDS; round++) {
        long before = threads.getCurrentThreadAllocatedBytes();
        readAll(in, target);
        least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
      }
      assertThat(engine.metrics().get(Counter.GETS)).as("all from memory").isEqualTo(gets);
      return least;
    }
  }

  private static void readAll(S3EInputStream in, byte[] target) throws IOException {
    for (int read = 0; read < READS; read++) {
      long at = (long) (read % BLOCKS) * EngineFixture.BLOCK + read;
      in.readFullyAt(at, target, 0, target.length);
    }
  }
}
