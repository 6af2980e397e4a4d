// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.bench.data.ObjectSlice;
import io.s3e.bench.raw.ByteSink;
import io.s3e.bench.raw.RawClient;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class RawSequentialReadTest {

  private static final int LENGTH = 40_000_000;
  private static final int IN_FLIGHT = 2;
  private static final int WRONG = 20_000_000;

  @TempDir private Path temp;

  /** Delivers zeros, and one other byte where it is told to; counts what is in flight. */
  private static final class ZeroClient implements RawClient {
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final AtomicInteger inFlight = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();
    private final AtomicInteger asked = new AtomicInteger();
    private final boolean corrupt;

    ZeroClient(boolean corrupt) {
      this.corrupt = corrupt;
    }

    @Override
    public CompletableFuture<Void> get(ObjectRef object, ByteRange range, ByteSink sink) {
      asked.incrementAndGet();
      most.accumulateAndGet(inFlight.incrementAndGet(), Math::max);
      return CompletableFuture.runAsync(() -> deliver(range, sink), threads);
    }

    private void deliver(ByteRange range, ByteSink sink) {
      byte[] zeros = new byte[(int) range.length()];
      if (corrupt && range.start() <= WRONG && WRONG < range.end()) {
        zeros[(int) (WRONG - range.start())] = 1;
      }
      inFlight.decrementAndGet();
      try {
        sink.accept(range.start(), ByteBuffer.wrap(zeros));
      } catch (IOException e) {
        throw new CompletionException(new IOException("a client's own wrapping", e));
      }
    }

    @Override
    public void close() {
      threads.shutdownNow();
    }
  }

  private RunContext context(ReadMonitor monitor) throws IOException {
    Path reference = Files.write(temp.resolve("reference"), new byte[LENGTH]);
    RunSpec spec =
        new RunSpec(
            "seq",
            List.of(ObjectSlice.front("s3a://bucket/key", LENGTH)),
            null,
            reference.toString(),
            LENGTH,
            List.of(),
            1,
            5_000_000,
            30_000,
            0,
            Map.of(),
            true);
    return new RunContext(null, spec, new ReferenceFile(reference), monitor);
  }

  @Test
  void everyRangeIsReadOnceAndNoMoreThanAllowedAtATime() throws Exception {
    ReadMonitor monitor = new ReadMonitor();
    try (ZeroClient client = new ZeroClient(false)) {
      new RawSequentialRead(client, IN_FLIGHT).run(context(monitor));

      assertThat(client.asked).hasValue(5);
      assertThat(client.most.get()).isLessThanOrEqualTo(IN_FLIGHT);
    }
    assertThat(monitor.bytesUsed()).isEqualTo(LENGTH);
    assertThat(monitor.reads()).isEqualTo(5);
  }

  @Test
  void wrongBytesAreToldAsSuch() throws Exception {
    RunContext context = context(new ReadMonitor());
    try (ZeroClient client = new ZeroClient(true)) {
      assertThatThrownBy(() -> new RawSequentialRead(client, IN_FLIGHT).run(context))
          .isInstanceOf(WrongBytesException.class)
          .hasMessageContaining("wrong byte at " + WRONG);
    }
  }
}
