// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import static io.s3e.stream.EngineFixture.BLOCK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.EveryClient;
import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Effort.End;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.metrics.StreamListener;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.testing.MemoryObjectClient.Answer;
import io.s3e.testing.Slow;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** When a read is given up, and what its error says of what was tried. */
@Timeout(60)
@Slow
@Tag("waits")
class GivingUpTest {
  private static final OpenOptions RANDOM = OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM);

  private static final Duration PATIENCE = Duration.ofSeconds(1);

  @RegisterExtension final EngineFixture s3e = EngineFixture.copying();

  @RegisterExtension
  final EngineFixture patient =
      EngineFixture.copying(
          config -> config.retryBase(Duration.ofMillis(10)).readTimeout(PATIENCE));

  @ParameterizedTest
  @CsvSource({
    "TLS, 2",
    "CREDENTIALS, 3",
    "FORBIDDEN, 1",
    "NOT_FOUND, 1",
    "REDIRECTED, 1",
    "OTHER, 1",
    "NO_ETAG, 1",
    "REJECTED, 8",
  })
  void aFailureThatWillNotPassIsAnErrorAtOnce(Kind kind, int attempts) throws Exception {
    s3e.put(4);
    s3e.client.faults((request, number) -> Answer.GOOD.failingAfter(-1, kind));
    // Without a HEAD: the store has never answered.
    try (S3EInputStream in = s3e.open(RANDOM.withSize(4L * BLOCK))) {
      assertGivenUp(in, kind, attempts, attempts, End.FAILURE);
    }
    assertThat(s3e.client.gets()).hasSize(attempts);
  }

  /** A cancel that nobody of ours has asked for is a broken connection, not a reason to go on. */
  @ParameterizedTest
  @CsvSource({
    "THROTTLED, THROTTLED",
    "SERVER, SERVER",
    "NETWORK, NETWORK",
    "CANCELLED, NETWORK",
  })
  void aFailureThatMayPassIsAnErrorWhenTheReadHasWaitedInVain(Kind kind, Kind told)
      throws Exception {
    patient.put(4);
    patient.client.faults((request, number) -> Answer.GOOD.failingAfter(10, kind));
    try (S3EInputStream in = patient.open(RANDOM)) {
      long started = System.nanoTime();
      assertGivenUp(in, told, 5, 25, End.DEADLINE);
      assertThat(Duration.ofNanos(System.nanoTime() - started))
          .isBetween(PATIENCE, PATIENCE.multipliedBy(3));
    }
    assertThat(patient.client.gets()).as("it does not spin").hasSizeBetween(5, 25);
  }

  private static void assertGivenUp(S3EInputStream in, Kind told, int least, int most, End end) {
    assertThatThrownBy(() -> in.readFullyAt(0, new byte[10], 0, 10))
        .hasMessageContaining("Reading 10 bytes at offset 0 of s3://bucket/key")
        .satisfies(
            thrown -> {
              RequestFailure failure = (RequestFailure) thrown.getCause();
              assertThat(failure.kind()).isEqualTo(told);
              assertThat(failure.effort().attempts()).isBetween(least, most);
              assertThat(failure.effort().end()).isEqualTo(end);
              assertThat(failure)
                  .hasMessageContaining("; " + failure.effort().attempts() + " attempt");
            });
  }

  @Test
  void aListenerThatThrowsCostsNothing() throws Exception {
    byte[] content = s3e.put(200);
    s3e.client.faults(
        (request, number) ->
            number % 3 == 0 ? Answer.GOOD.failingAfter(10, Kind.NETWORK) : Answer.GOOD);
    try (S3EInputStream in = s3e.open(RANDOM.withListener(new Throwing()))) {
      // More GETs than there are lanes: each that an exception kept would be missing here.
      for (int block = 0; block < 200; block++) {
        byte[] read = new byte[BLOCK];
        in.readFullyAt((long) block * BLOCK, read, 0, BLOCK);
        assertThat(read).isEqualTo(Arrays.copyOfRange(content, block * BLOCK, (block + 1) * BLOCK));
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"CRT_BORROWED", "APACHE"})
  void anInterruptedHeadIsAnInterruptedRead(EveryClient kind) throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      AwsClientSettings settings =
          AwsClientSettings.builder()
              .endpoint(URI.create("http://127.0.0.1:" + silent.getLocalPort()))
              .region("us-east-1")
              .pathStyle(true)
              .anonymous(true)
              .stallTimeout(Duration.ofSeconds(2))
              .build();
      try (S3E engine =
          S3E.create(S3EConfig.DEFAULTS, new MemoryBudget(64 << 20), kind.provider(settings))) {
        CompletableFuture<Void> opened = new CompletableFuture<>();
        Thread opener =
            new Thread(
                () -> {
                  try {
                    engine.open(new ObjectRef("bucket", "key")).close();
                    opened.complete(null);
                  } catch (Throwable e) {
                    opened.completeExceptionally(e);
                  }
                });
        opener.start();
        silent.accept();
        opener.interrupt();
        assertThatThrownBy(() -> opened.get(20, TimeUnit.SECONDS))
            .isInstanceOf(ExecutionException.class)
            .hasCauseInstanceOf(InterruptedIOException.class);
      }
    }
  }

  private static final class Throwing implements StreamListener {
    @Override
    public void onGetStarted(long offset, long bytes, boolean prefetch) {
      throw new IllegalStateException("started");
    }

    @Override
    public void onGetFinished(long offset, long received, long nanos, @Nullable Exception failure) {
      throw new AssertionError("finished");
    }

    @Override
    public void onRetry(Exception failure) {
      throw new IllegalStateException("retry");
    }

    @Override
    public void onCount(Counter counter, long amount) {
      throw new IllegalStateException("counted");
    }
  }
}
