// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import static io.s3e.stream.EngineFixture.BLOCK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.block.ByteRange;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.testing.CapturedLog;
import io.s3e.testing.MemoryObjectClient.Answer;
import io.s3e.testing.Slow;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A reader that waits for a store out of reach says so long before its patience is over. */
@Timeout(60)
@Slow
@Tag("waits")
class LongWaitsTest {
  private static final String LINE = "A read has waited";

  @RegisterExtension
  final EngineFixture s3e =
      EngineFixture.copying(config -> config.readTimeout(Duration.ofMillis(1_600)));

  private void away(Kind kind) {
    s3e.client.faults((request, number) -> Answer.GOOD.failingAfter(-1, kind));
  }

  @Test
  void oneLineTellsWhatWasTriedSinceWhenAndUntilWhen() throws Exception {
    s3e.put(4);
    away(Kind.NETWORK);
    try (CapturedLog log = new CapturedLog();
        S3EInputStream in = s3e.open()) {
      assertThatThrownBy(() -> in.readAt(0, new byte[10], 0, 10)).hasMessageContaining("injected");

      assertThat(log.lines(LINE)).hasSize(1);
      assertThat(log.lines(LINE).get(0))
          .contains(
              "WARN", "GET [0, ", "of s3://bucket/key was sent ", " times, the last failure is: ")
          .contains("injected NETWORK", "read timeout of 1.6 s", "fs.s3a.s3e.read.timeout")
          .containsPattern(
              "Nothing has come since \\S+Z; without an answer the read fails at \\S+Z");
    }
  }

  @Test
  void aGetThatIsNotAnsweredIsToldOfAsThat() throws Exception {
    s3e.put(4);
    s3e.client.faults((request, number) -> Answer.GOOD.silentAfter(0));
    try (CapturedLog log = new CapturedLog();
        S3EInputStream in = s3e.open()) {
      assertThatThrownBy(() -> in.readAt(0, new byte[10], 0, 10)).hasMessageContaining("deadline");

      assertThat(log.lines(LINE)).hasSize(1);
    }
    assertThat(s3e.engine.metrics().get(Counter.WAITS)).as("a wait in vain is one").isEqualTo(1);
    assertThat(s3e.engine.metrics().get(Counter.WAIT_NANOS)).isGreaterThan(1_500_000_000L);
  }

  /** Each range finds its block absent, and a second of waiting is one second for all of them. */
  @Test
  void rangesThatWaitBesideEachOtherWaitOnce() throws Exception {
    s3e.put(64);
    s3e.client.faults((request, number) -> Answer.GOOD.after(500));
    List<ByteRange> ranges = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      ranges.add(ByteRange.ofLength(i * 8L * BLOCK, 100));
    }
    try (S3EInputStream in = s3e.open()) {
      long begun = System.nanoTime();
      CompletableFuture.allOf(
              in.readVectored(ranges, ByteBuffer::allocate, buffer -> {})
                  .toArray(new CompletableFuture<?>[0]))
          .get(30, TimeUnit.SECONDS);
      long passed = System.nanoTime() - begun;

      assertThat(s3e.engine.metrics().get(Counter.WAITS)).isEqualTo(8);
      assertThat(s3e.engine.metrics().get(Counter.WAIT_NANOS)).isBetween(250_000_000L, passed);
    }
  }

  @Test
  void readersOfABucketTellItTogether() throws Exception {
    s3e.put(16);
    away(Kind.SERVER);
    try (CapturedLog log = new CapturedLog();
        S3EInputStream in = s3e.open()) {
      List<CompletableFuture<Void>> reads = new ArrayList<>();
      for (int block = 0; block < 16; block++) {
        int at = block * BLOCK;
        reads.add(
            CompletableFuture.runAsync(
                () -> assertThatThrownBy(() -> in.readAt(at, new byte[10], 0, 10)).isNotNull(),
                task -> new Thread(task).start()));
      }
      for (CompletableFuture<Void> read : reads) {
        read.get(30, TimeUnit.SECONDS);
      }
      assertThat(log.lines(LINE)).hasSize(1);
    }
  }

  @Test
  void aVectoredReadTellsIt() throws Exception {
    s3e.put(16);
    away(Kind.NETWORK);
    try (CapturedLog log = new CapturedLog();
        S3EInputStream in = s3e.open()) {
      List<ByteRange> ranges = List.of(ByteRange.ofLength(0, 100));
      var results = in.readVectored(ranges, ByteBuffer::allocate, buffer -> {});
      assertThatThrownBy(() -> results.get(0).join()).isInstanceOf(CompletionException.class);

      assertThat(log.lines(LINE)).hasSize(1);
    }
  }

  @Test
  void aReadThatGetsOnSaysNothing() throws Exception {
    byte[] content = s3e.put(24);
    s3e.client.faults((request, number) -> Answer.GOOD.after(100));
    try (CapturedLog log = new CapturedLog();
        S3EInputStream in = s3e.open()) {
      assertThat(in.readAllBytes()).isEqualTo(content);
      assertThat(log.lines(LINE)).isEmpty();
    }
  }
}
