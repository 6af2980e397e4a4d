// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.testing.ForkedJvm;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.Pause;
import io.s3e.testing.Slow;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Reads that wait while the JVM stands still, as in a container that is frozen for a while. */
@Slow
@Timeout(120)
class StoodStillTest {
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  /** A read, a vectored read, and a read that waits for its place among the GETs. */
  @Test
  void readsDoNotFailForTimeInWhichNothingRan() throws Exception {
    try (ForkedJvm jvm = ForkedJvm.start(Reads.class)) {
      jvm.await("waiting");
      jvm.signal("STOP");
      Pause.of(PATIENCE.multipliedBy(2), "the JVM stands still for longer than reads wait");
      jvm.signal("CONT");
      jvm.end();
      assertThat(jvm.rest()).contains("all read");
    }
  }

  /** Answers come a moment after the standard input has ended. */
  static final class Reads {
    private static final int BLOCK = 64 << 10;
    private static final byte[] CONTENT = MemoryObjectClient.bytes(8 * BLOCK, 3);

    public static void main(String[] args) throws Exception {
      // Room for two of the three.
      MemoryObjectClient client =
          new MemoryObjectClient(ClientLimits.copying(CONTENT.length, 2, 0));
      for (String key : List.of("read", "vectored", "waiting")) {
        client.put(new ObjectRef("bucket", key), CONTENT, '"' + key + '"');
      }
      client.hold();
      S3EConfig config =
          S3EConfig.DEFAULTS.toBuilder()
              .blockBytes(BLOCK)
              .requestBytes(CONTENT.length)
              .readTimeout(PATIENCE)
              .build();
      ExecutorService threads = Executors.newCachedThreadPool();
      MemoryBudget budget = new MemoryBudget(256L * BLOCK);
      try (S3E engine = S3E.create(config, budget, granted -> client)) {
        Future<?> read = threads.submit(() -> read(engine, "read"));
        Future<?> vectored = threads.submit(() -> vectored(engine));
        awaitTrue("both are sent", () -> client.gets().size() == 2);
        Future<?> waiting = threads.submit(() -> read(engine, "waiting"));
        Pause.millis(200, "the third comes to wait");
        System.out.println("waiting");
        while (System.in.read() >= 0) {}
        Pause.millis(300, "threads look whether they wait too long");
        client.open();
        for (Future<?> each : List.of(read, vectored, waiting)) {
          each.get();
        }
        System.out.println("all read");
      } finally {
        threads.shutdownNow();
      }
    }

    private static Void read(S3E engine, String key) throws Exception {
      try (S3EInputStream in = engine.open(new ObjectRef("bucket", key))) {
        assertThat(in.readAllBytes()).isEqualTo(CONTENT);
      }
      return null;
    }

    private static Void vectored(S3E engine) throws Exception {
      try (S3EInputStream in = engine.open(new ObjectRef("bucket", "vectored"))) {
        ByteRange all = new ByteRange(0, CONTENT.length);
        List<CompletableFuture<ByteBuffer>> parts =
            in.readVectored(List.of(all), ByteBuffer::allocate, buffer -> {});
        assertThat(parts.get(0).get()).isEqualTo(ByteBuffer.wrap(CONTENT));
      }
      return null;
    }
  }
}
