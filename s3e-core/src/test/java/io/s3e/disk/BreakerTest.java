// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.disk.Breaker.Cause;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.DiskMetrics.Counter;
import io.s3e.testing.FaultyLog;
import io.s3e.testing.Seed;
import io.s3e.testing.Threads;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class BreakerTest {
  private static final Duration PAUSE = Duration.ofSeconds(5);

  private final ManualClock clock = new ManualClock();
  private final DiskMetrics metrics = new DiskMetrics();
  private final Breaker breaker = new Breaker(PAUSE, clock::nanos, metrics, "test");

  @ParameterizedTest
  @EnumSource(
      value = Cause.class,
      names = {"ERROR", "SLOW"})
  void threeFailuresInARowOpenIt(Cause cause) {
    breaker.failure(cause);
    breaker.failure(cause);
    breaker.success();
    breaker.failure(cause);
    breaker.failure(cause);
    assertThat(breaker.allows()).isTrue();
    breaker.failure(cause);
    assertThat(breaker.allows()).isFalse();
    assertThat(breaker.isDue()).isFalse();
  }

  @ParameterizedTest
  @EnumSource(
      value = Cause.class,
      names = {"HUNG", "NO_SPACE", "READ_ONLY"})
  void whatTheNextOperationWillMeetTooOpensItAtOnce(Cause cause) {
    breaker.failure(cause);
    assertThat(breaker.allows()).isFalse();
    assertThat(breaker.isDue()).isFalse();
  }

  /** The log may be on the disk that hangs, and the caller the timer or an event loop. */
  @Test
  void aLogThatHangsHoldsNobodyUp() throws Exception {
    try (FaultyLog log = new FaultyLog("test is left alone", true)) {
      CompletableFuture<Void> told = CompletableFuture.runAsync(() -> breaker.failure(Cause.HUNG));
      assertThat(log.awaitMet()).as("logged").isTrue();
      told.get(20, TimeUnit.SECONDS);
      assertThat(breaker.allows()).isFalse();
    }
  }

  @Test
  void failuresAmongSuccessesAreBorne() {
    for (int i = 0; i < 500; i++) {
      failAndSucceed(1);
    }
    assertThat(breaker.allows()).isTrue();
  }

  private void failAndSucceed(int successes) {
    breaker.failure(Cause.SLOW);
    for (int i = 0; i < successes; i++) {
      breaker.success();
    }
  }

  @Test
  void oneProbePassesAfterThePauseAndItsSuccessCloses() {
    breaker.failure(Cause.NO_SPACE);
    assertThat(breaker.tryProbe()).as("too early").isFalse();
    clock.pass(PAUSE);
    assertThat(breaker.allows()).as("a probe is asked for by name").isFalse();
    assertThat(breaker.tryProbe()).isTrue();
    assertThat(breaker.tryProbe()).as("one only").isFalse();
    assertThat(breaker.allows()).isFalse();
    assertThat(breaker.isDue()).as("while the probe is on its way").isFalse();
    breaker.success();
    assertThat(breaker.allows()).isTrue();
    assertThat(breaker.tryProbe()).as("nothing to probe").isFalse();
  }

  @Test
  void aProbeThatHasNotAskedTheDiskIsTheNextCallers() {
    breaker.failure(Cause.NO_SPACE);
    breaker.unused();
    assertThat(breaker.isDue()).as("there was no probe").isFalse();
    clock.pass(PAUSE);
    assertThat(breaker.tryProbe()).isTrue();
    breaker.unused();
    assertThat(breaker.tryProbe()).isTrue();
    breaker.failure(Cause.ERROR);
    clock.pass(PAUSE.multipliedBy(2));
    assertThat(breaker.tryProbe()).as("the pause doubles once").isTrue();
    breaker.success();
    breaker.unused();
    assertThat(breaker.allows()).isTrue();
  }

  @Test
  void pausesDoubleUpTo32Times() {
    breaker.failure(Cause.NO_SPACE);
    for (long factor : new long[] {1, 2, 4, 8, 16, 32, 32, 32}) {
      clock.pass(PAUSE.multipliedBy(factor).minusNanos(1));
      assertThat(breaker.tryProbe()).as("before %d pauses", factor).isFalse();
      clock.pass(Duration.ofNanos(1));
      assertThat(breaker.tryProbe()).as("after %d pauses", factor).isTrue();
      breaker.failure(Cause.ERROR);
    }
  }

  @Test
  void aProbeThatHangsCountsAsFailed() {
    breaker.failure(Cause.HUNG);
    clock.pass(PAUSE);
    assertThat(breaker.tryProbe()).isTrue();
    clock.pass(PAUSE);
    assertThat(breaker.tryProbe()).as("it hangs").isFalse();
    clock.pass(PAUSE);
    assertThat(breaker.tryProbe()).as("twice the pause now").isFalse();
    clock.pass(PAUSE);
    assertThat(breaker.tryProbe()).isTrue();
    breaker.success();
    assertThat(breaker.allows()).isTrue();
  }

  @Test
  void whatEndsWhileItIsOpenChangesNothing() {
    breaker.failure(Cause.READ_ONLY);
    breaker.success();
    breaker.failure(Cause.READ_ONLY);
    assertThat(breaker.allows()).isFalse();
    clock.pass(PAUSE);
    assertThat(breaker.tryProbe()).as("the pause has not doubled").isTrue();
  }

  @Test
  void thePauseIsShortAgainAfterAProbeThatSucceeds() {
    breaker.failure(Cause.HUNG);
    clock.pass(PAUSE);
    assertThat(breaker.tryProbe()).isTrue();
    breaker.failure(Cause.HUNG);
    clock.pass(PAUSE.multipliedBy(2));
    assertThat(breaker.tryProbe()).isTrue();
    breaker.success();
    breaker.failure(Cause.HUNG);
    clock.pass(PAUSE);
    assertThat(breaker.tryProbe()).isTrue();
  }

  @Test
  void itIsCountedOnceHoweverLongItStaysOpen() {
    breaker.failure(Cause.NO_SPACE);
    breaker.failure(Cause.NO_SPACE);
    clock.pass(PAUSE);
    assertThat(breaker.tryProbe()).isTrue();
    breaker.failure(Cause.NO_SPACE);
    assertThat(metrics.get(Counter.BREAKER_OPENED)).isEqualTo(1);
    assertThat(metrics.get(Counter.BREAKERS_OPEN)).isEqualTo(1);
    clock.pass(PAUSE.multipliedBy(2));
    assertThat(breaker.tryProbe()).isTrue();
    breaker.success();
    assertThat(metrics.get(Counter.BREAKERS_OPEN)).isZero();
    breaker.failure(Cause.NO_SPACE);
    assertThat(metrics.get(Counter.BREAKER_OPENED)).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource({
    "/d/x: No space left on device, NO_SPACE",
    "/d/x: Disk quota exceeded, NO_SPACE",
    "/d/x: Read-only file system, READ_ONLY",
    "/d/x: Input/output error, ERROR",
    ", ERROR",
  })
  void theCauseIsToldByTheSystemsWords(String message, Cause cause) {
    assertThat(Cause.of(new IOException(message))).isEqualTo(cause);
  }

  @Test
  void ofManyThreadsOneProbes() throws Exception {
    breaker.failure(Cause.NO_SPACE);
    clock.pass(PAUSE);
    AtomicInteger probes = new AtomicInteger();
    Threads.run(
        8,
        Seed.draw(),
        (thread, random) -> {
          for (int i = 0; i < 1000; i++) {
            if (breaker.tryProbe()) {
              probes.incrementAndGet();
            }
          }
        });
    assertThat(probes).hasValue(1);
  }
}
