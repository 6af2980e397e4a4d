// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import static io.s3e.stream.EngineFixture.BLOCK;
import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.OpenOptions;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.testing.MemoryObjectClient.Answer;
import java.io.InterruptedIOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Reads whose work is given up while they wait, by words of the thread that reads. */
@Timeout(120)
class CancelledReadsTest {
  private static final String WORDS = "task 17 was killed";

  @RegisterExtension final EngineFixture fixture = EngineFixture.copying();

  private final AtomicReference<String> words = new AtomicReference<>();

  private S3EInputStream open() throws Exception {
    fixture.put(64);
    return fixture.open(
        OpenOptions.DEFAULTS.withPolicy(ReadPolicy.SEQUENTIAL).withCancelled(words::get));
  }

  @Test
  void aReadThatWaitsEndsAndItsGetsAreCancelled() throws Exception {
    try (S3EInputStream in = open()) {
      // Which end by a cancel alone.
      fixture.client.faults((request, number) -> Answer.GOOD.silentAfter(0));
      CompletableFuture<Integer> read =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return in.read(new byte[BLOCK], 0, BLOCK);
                } catch (Exception e) {
                  throw new CompletionException(e);
                }
              });
      awaitTrue(() -> fixture.client.active() > 0);
      words.set(WORDS);
      assertThatThrownBy(() -> read.get(60, TimeUnit.SECONDS))
          .isInstanceOf(ExecutionException.class)
          .cause()
          .isInstanceOf(InterruptedIOException.class)
          .hasMessageContaining(WORDS)
          .hasMessageContaining("offset 0");
      awaitTrue("all GETs are cancelled", () -> fixture.client.active() == 0);
    }
  }

  @Test
  void nothingMoreIsAskedForOnceItIsCancelled() throws Exception {
    try (S3EInputStream in = open()) {
      words.set(WORDS);
      assertThatThrownBy(() -> in.read(new byte[BLOCK], 0, BLOCK))
          .isInstanceOf(InterruptedIOException.class)
          .hasMessageContaining(WORDS);
      assertThat(fixture.client.gets()).isEmpty();
    }
  }

  /** The words are of a thread, and another one may read on. */
  @Test
  void theStreamStaysUsable() throws Exception {
    try (S3EInputStream in = open()) {
      words.set(WORDS);
      assertThatThrownBy(() -> in.readAt(0, new byte[10], 0, 10))
          .isInstanceOf(InterruptedIOException.class);
      words.set(null);
      byte[] all = in.readAllBytes();
      assertThat(all).isEqualTo(fixture.content);
    }
  }
}
