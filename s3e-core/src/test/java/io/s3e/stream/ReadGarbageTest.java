// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import static io.s3e.testing.Eventually.awaitTrue;
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
import java.util.stream.Stream;
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
  private static final OpenOptions OPTIONS = OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM);

  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  /** Of each level one engine, so that all are read by the same compiled code in some round. */
  @Test
  void itIsTheSameWhateverIsKept() throws Exception {
    assumeTrue(threads.isThreadAllocatedMemorySupported(), "this JVM does not count");
    try (S3E off = engine(new ExplainConfig(false, null));
        S3E recent = engine(ExplainConfig.DEFAULTS);
        S3E all = engine(new GetLines().config());
        S3EInputStream ofOff = off.open(EngineFixture.OBJECT, OPTIONS);
        S3EInputStream ofRecent = recent.open(EngineFixture.OBJECT, OPTIONS);
        S3EInputStream ofAll = all.open(EngineFixture.OBJECT, OPTIONS)) {
      List<S3EInputStream> streams = List.of(ofOff, ofRecent, ofAll);
      for (S3EInputStream in : streams) {
        readAll(in);
      }
      long gets = gets(off, recent, all);
      List<Long> bytes = new ArrayList<>();
      awaitTrue(
          "a round in which all allocate the same",
          () -> {
            bytes.clear();
            for (S3EInputStream in : streams) {
              long before = threads.getCurrentThreadAllocatedBytes();
              readAll(in);
              bytes.add(threads.getCurrentThreadAllocatedBytes() - before);
            }
            return bytes.stream().distinct().count() == 1;
          });
      System.out.println(READS + " reads allocate, by off, recent and all: " + bytes);
      assertThat(gets(off, recent, all)).as("all from memory").isEqualTo(gets);
    }
  }

  private static long gets(S3E... engines) {
    return Stream.of(engines).mapToLong(engine -> engine.metrics().get(Counter.GETS)).sum();
  }

  private static S3E engine(ExplainConfig level) {
    MemoryObjectClient client =
        new MemoryObjectClient(ClientLimits.copying(EngineFixture.REQUEST, 4, 0));
    client.put(
        EngineFixture.OBJECT,
        MemoryObjectClient.bytes(BLOCKS * EngineFixture.BLOCK, 1),
        EngineFixture.ETAG);
    return S3E.create(
        S3EConfig.DEFAULTS.toBuilder().explain(level).build(),
        new MemoryBudget(8L * BLOCKS * EngineFixture.BLOCK),
        granted -> client);
  }

  private static void readAll(S3EInputStream in) throws IOException {
    byte[] target = new byte[100];
    for (int read = 0; read < READS; read++) {
      long at = (long) (read % BLOCKS) * EngineFixture.BLOCK + read;
      in.readFullyAt(at, target, 0, target.length);
    }
  }
}
