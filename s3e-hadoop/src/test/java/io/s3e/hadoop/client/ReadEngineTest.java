// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.testing.ForkedJvm;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.Pause;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ReadEngineTest {
  private static final CompletableFuture<Void> NEVER = new CompletableFuture<>();

  private final MemoryBudget budget = new MemoryBudget(64 << 20);
  private final CountDownLatch entered = new CountDownLatch(1);
  private final CountDownLatch mayGoOn = new CountDownLatch(1);
  private final CountDownLatch released = new CountDownLatch(1);
  private final AtomicInteger makings = new AtomicInteger();

  private ReadEngine.Made make() {
    makings.incrementAndGet();
    entered.countDown();
    boolean goOn = false;
    while (!goOn) {
      try {
        goOn = mayGoOn.await(1, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        // Deaf, as some providers of credentials are.
      }
    }
    MemoryObjectClient client = new MemoryObjectClient(ClientLimits.copying(1 << 20, 4, 0));
    return new ReadEngine.Made(
        S3E.create(S3EConfig.DEFAULTS, budget, granted -> client), released::countDown);
  }

  @Test
  void whatIsMadeAfterTheCloseIsReleased() throws Exception {
    ReadEngine engine = new ReadEngine("a test", Duration.ofSeconds(30), this::make);
    CompletableFuture<S3E> read =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return engine.engine(NEVER);
              } catch (IOException e) {
                throw new IllegalStateException(e);
              }
            });
    assertThat(entered.await(10, TimeUnit.SECONDS)).isTrue();

    engine.close();

    assertThatThrownBy(() -> read.get(5, TimeUnit.SECONDS)).hasStackTraceContaining("closed");
    mayGoOn.countDown();
    assertThat(released.await(10, TimeUnit.SECONDS)).isTrue();
    assertThat(budget.reserved()).isZero();
    assertThatThrownBy(() -> engine.engine(NEVER)).hasMessageContaining("Filesystem closed");
  }

  @Test
  void whatAForgottenOwnerLeavesIsReleased() throws Exception {
    mayGoOn.countDown();
    makeAndForget();
    awaitTrue(
        "what was made is closed",
        () -> {
          System.gc();
          return released.getCount() == 0;
        });
    awaitTrue("its memory is given back", () -> budget.reserved() == 0);
  }

  /** A method of its own: what its variables held is nobody's afterwards. */
  private void makeAndForget() throws IOException {
    ReadEngine forgotten = new ReadEngine("a test", Duration.ofSeconds(30), this::make);
    assertThat(forgotten.engine(NEVER).client().name()).isNotEmpty();
  }

  @Test
  void aReadHasADeadlineAndTheMakingServesTheNext() throws Exception {
    try (ReadEngine engine = new ReadEngine("a test", Duration.ofMillis(50), this::make)) {
      assertThatThrownBy(() -> engine.engine(NEVER))
          .isInstanceOf(SocketTimeoutException.class)
          .hasMessageContaining("50 ms");
      mayGoOn.countDown();
      awaitTrue("the engine is made", () -> engine.ifMade() != null);
      assertThat(engine.engine(NEVER)).isSameAs(engine.ifMade());
      assertThat(makings).hasValue(1);
    }
    assertThat(released.getCount()).isZero();
    assertThat(budget.reserved()).isZero();
  }

  /** As where its container is frozen while the first read waits for credentials. */
  @Test
  @Slow
  void aReadDoesNotFailForTimeInWhichNothingRan() throws Exception {
    try (ForkedJvm jvm = ForkedJvm.start(FirstRead.class)) {
      jvm.await("making");
      jvm.signal("STOP");
      Pause.of(FirstRead.PATIENCE.multipliedBy(2), "the JVM stands still for longer than it waits");
      jvm.signal("CONT");
      jvm.end();
      assertThat(jvm.rest()).contains("made");
    }
  }

  /** The engine is made a moment after the standard input has ended. */
  static final class FirstRead {
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    public static void main(String[] args) throws IOException {
      try (ReadEngine engine = new ReadEngine("a test", PATIENCE, FirstRead::make)) {
        assertThat(engine.engine(NEVER)).isNotNull();
        System.out.println("made");
      }
    }

    private static ReadEngine.Made make() throws IOException {
      System.out.println("making");
      while (System.in.read() >= 0) {}
      try {
        Pause.millis(300, "the read looks whether it waits too long");
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
      MemoryBudget budget = new MemoryBudget(64 << 20);
      MemoryObjectClient client = new MemoryObjectClient(ClientLimits.copying(1 << 20, 4, 0));
      return new ReadEngine.Made(
          S3E.create(S3EConfig.DEFAULTS, budget, granted -> client), () -> {});
    }
  }

  @Test
  void anErrorOfLinkageIsTheReadersAndIsNotRemembered() throws Exception {
    try (ReadEngine engine =
        new ReadEngine(
            "a test",
            Duration.ofSeconds(30),
            () -> {
              if (makings.get() == 0) {
                makings.incrementAndGet();
                throw new NoSuchMethodError("withDirectBufferPoolOptions");
              }
              mayGoOn.countDown();
              return make();
            })) {
      assertThatThrownBy(() -> engine.engine(NEVER))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("a test")
          .hasMessageContaining("withDirectBufferPoolOptions");
      assertThat(engine.engine(NEVER)).isNotNull();
    }
  }
}
