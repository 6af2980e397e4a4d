package io.s3e.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.testing.Seed;
import io.s3e.testing.Threads;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;

class RateLimiterTest {
  private static final int MIB = 1 << 20;

  private final ManualClock clock = new ManualClock();

  @Test
  void zeroIsNoLimit() {
    RateLimiter limiter = new RateLimiter(0, clock::nanos);
    for (int i = 0; i < 1000; i++) {
      assertThat(limiter.tryAcquire(Long.MAX_VALUE)).isTrue();
    }
  }

  @Test
  void aFastRateLetsASecondsWorthPassAtOnceAndThenItsRate() {
    RateLimiter limiter = new RateLimiter(100L * MIB, clock::nanos);
    assertThat(passed(limiter, 200)).isEqualTo(100);
    clock.pass(Duration.ofMillis(100));
    assertThat(passed(limiter, 200)).isEqualTo(10);
    clock.pass(Duration.ofMillis(5));
    assertThat(limiter.tryAcquire(MIB)).as("half of what it costs").isFalse();
    clock.pass(Duration.ofMillis(5));
    assertThat(limiter.tryAcquire(MIB)).isTrue();
  }

  @Test
  void aSlowRateStillLetsEightMebibytesPassAtOnce() {
    RateLimiter limiter = new RateLimiter(1024, clock::nanos);
    assertThat(passed(limiter, 100)).isEqualTo(8);
    clock.pass(Duration.ofSeconds(1023));
    assertThat(limiter.tryAcquire(MIB)).isFalse();
    clock.pass(Duration.ofSeconds(1));
    assertThat(limiter.tryAcquire(MIB)).isTrue();
  }

  @Test
  void longRestSavesNoMoreThanABurst() {
    RateLimiter limiter = new RateLimiter(16L * MIB, clock::nanos);
    clock.pass(Duration.ofDays(100));
    assertThat(passed(limiter, 1000)).isEqualTo(16);
  }

  @Test
  void whatIsRefusedTakesNothing() {
    RateLimiter limiter = new RateLimiter(8L * MIB, clock::nanos);
    for (int i = 0; i < 100; i++) {
      assertThat(limiter.tryAcquire(9L * MIB)).as("more than a burst").isFalse();
    }
    assertThat(passed(limiter, 100)).isEqualTo(8);
  }

  @Test
  void threadsTogetherGetNoMoreThanOneWould() throws Exception {
    RateLimiter limiter = new RateLimiter(64L * MIB, clock::nanos);
    LongAdder passed = new LongAdder();
    Threads.run(8, Seed.draw(), (thread, random) -> passed.add(passed(limiter, 100)));
    assertThat(passed.sum()).isEqualTo(64);
  }

  private static int passed(RateLimiter limiter, int attempts) {
    int passed = 0;
    for (int i = 0; i < attempts; i++) {
      passed += limiter.tryAcquire(MIB) ? 1 : 0;
    }
    return passed;
  }
}
