// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.testing.Pause;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ReadClockTest {

  private static final long WAIT_MILLIS = 20;

  @Test
  void countsCallsThatFailToo() throws Exception {
    ReadClock clock = new ReadClock();
    clock.groupEnded();
    assertThat(clock.timed(ReadClockTest::sleep)).isEqualTo(7);
    assertThatThrownBy(
            () ->
                clock.timed(
                    () -> {
                      sleep();
                      throw new IOException("no such key");
                    }))
        .hasMessage("no such key");

    assertThat(clock.blockedNanos()).isGreaterThanOrEqualTo(nanos(2 * WAIT_MILLIS));
  }

  private static int sleep() throws InterruptedIOException {
    try {
      Pause.millis(WAIT_MILLIS, "what the clock is to show");
    } catch (InterruptedException e) {
      throw new InterruptedIOException();
    }
    return 7;
  }

  private static long nanos(long millis) {
    return TimeUnit.MILLISECONDS.toNanos(millis);
  }

  @Test
  void countsWaitsForFuturesAndNotTheirTime() throws Exception {
    ReadClock clock = new ReadClock();
    clock.groupEnded();
    CompletableFuture<String> source = new CompletableFuture<>();
    CompletableFuture<String> timed = clock.timed(source);
    Pause.millis(WAIT_MILLIS, "what the clock is to show");
    assertThat(clock.blockedNanos()).as("nobody has waited").isZero();

    source.completeOnTimeout("bytes", WAIT_MILLIS, TimeUnit.MILLISECONDS);
    assertThat(timed.get()).isEqualTo("bytes");
    assertThat(clock.blockedNanos()).isPositive();
  }

  @Test
  void futuresFailAsTheirSourcesDo() {
    ReadClock clock = new ReadClock();
    CompletableFuture<String> timed =
        clock.timed(CompletableFuture.failedFuture(new IOException("reset")));

    assertThatThrownBy(timed::get)
        .isInstanceOf(ExecutionException.class)
        .hasRootCauseMessage("reset");
    assertThatThrownBy(timed::join).hasRootCauseMessage("reset");
  }

  @Test
  void atFirstNobodyHasWaited() {
    assertThat(new ReadClock().blockedNanos()).isZero();
  }

  @Test
  void aConsumerTakesItsTimeFromTheArrivalOn() throws Exception {
    long start = System.nanoTime();
    Pace.megabytes(1).consume(20_000, start);
    assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(nanos(20));

    Pace.megabytes(1).consume(3_600_000_000L, start - nanos(3_600_000));
    Pace.UNBOUND.consume(Long.MAX_VALUE, System.nanoTime());

    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> Pace.megabytes(1).consume(3_600_000_000L, System.nanoTime()))
        .isInstanceOf(InterruptedIOException.class);
  }
}
