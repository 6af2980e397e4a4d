// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.client.ForwardingClient;
import io.s3e.client.GetRequest;
import io.s3e.client.ObjectClient;
import io.s3e.client.ResponseHandler;
import io.s3e.metrics.EngineMetrics;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.stream.S3EInputStream;
import io.s3e.testing.MemoryObjectClient;
import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * One thread looks what to fetch ahead of a stream, and is slow to note what it has started; by
 * then another has read it. Nothing of that was a wrong guess.
 */
@Timeout(60)
class LateStartsTest {
  private static final int BLOCK = 64 << 10;
  private static final Table TABLE = new Table(8, 2, 4 * BLOCK, 4096, 1);
  private static final ObjectRef OBJECT = new ObjectRef("bucket", "table/file.parquet");

  /** Returns from the first GET behind group 1 when others have read all that follows. */
  private static final class SlowToReturn implements ForwardingClient {
    private final AtomicBoolean isFirst = new AtomicBoolean(true);
    private final ObjectClient client;
    private Runnable meanwhile = () -> {};

    SlowToReturn(ObjectClient client) {
      this.client = client;
    }

    @Override
    public ObjectClient client() {
      return client;
    }

    @Override
    public Exchange get(GetRequest request, ResponseHandler handler) {
      Exchange begun = client.get(request, handler);
      long start = request.range().start();
      boolean isBehind = start >= TABLE.wanted(2, 0).start() && start < TABLE.wanted(7, 0).start();
      if (isBehind && isFirst.getAndSet(false)) {
        meanwhile.run();
      }
      return begun;
    }
  }

  private static byte[] file() {
    byte[] all = MemoryObjectClient.bytes((int) TABLE.size(), 3);
    byte[] tail = TABLE.file().last();
    System.arraycopy(tail, 0, all, all.length - tail.length, tail.length);
    return all;
  }

  private static void read(S3EInputStream in, byte[] file, ByteRange range) {
    byte[] target = new byte[(int) range.length()];
    try {
      in.readFullyAt(range.start(), target, 0, target.length);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    assertThat(target).isEqualTo(Arrays.copyOfRange(file, (int) range.start(), (int) range.end()));
  }

  @Test
  void whatWasReadBeforeItIsNotedAsStartedIsNotWasted() throws Exception {
    byte[] file = file();
    MemoryObjectClient memory = new MemoryObjectClient(ClientLimits.copying(8 * BLOCK, 32, 0));
    memory.put(OBJECT, file, "\"v1\"");
    SlowToReturn client = new SlowToReturn(memory);
    S3EConfig config =
        S3EConfig.DEFAULTS.toBuilder().blockBytes(BLOCK).requestBytes(8 * BLOCK).build();
    EngineMetrics metrics;
    try (S3E engine = S3E.create(config, new MemoryBudget(1024L * BLOCK), granted -> client)) {
      OpenOptions options =
          OpenOptions.DEFAULTS.withSize(file.length).withSplit(new ByteRange(0, file.length));
      metrics = engine.metrics();
      try (S3EInputStream in = engine.open(OBJECT, options)) {
        client.meanwhile =
            () -> {
              CompletableFuture<Void> reader =
                  CompletableFuture.runAsync(
                      () -> {
                        for (int group = 2; group < TABLE.groups(); group++) {
                          read(in, file, TABLE.wanted(group, 1));
                        }
                      });
              reader.orTimeout(30, TimeUnit.SECONDS).join();
            };
        read(in, file, new ByteRange(file.length - 8, file.length));
        read(in, file, TABLE.wanted(0, 1));
        read(in, file, TABLE.wanted(1, 1));
        assertThat(client.isFirst).as("something was fetched ahead").isFalse();
      }
    }
    assertThat(metrics.get(Counter.COLUMNAR_ASKED_BYTES)).isPositive();
    assertThat(metrics.get(Counter.COLUMNAR_GROUP_WASTED_BYTES)).isZero();
    assertThat(metrics.get(Counter.COLUMNAR_GROUP_USED_BYTES)).isPositive();
    assertThat(metrics.get(Counter.WASTED_BYTES)).isZero();
  }
}
