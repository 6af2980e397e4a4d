// SPDX-License-Identifier: Apache-2.0
package io.s3e.fault;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class GetTimesTest {
  private static final int KIB = 1 << 10;

  private final GetTimes times = new GetTimes();

  /** 150 ms and 60 MB/s, rounded up to the end of a quarter of a doubling. */
  @Test
  void whatS3NeedsIsExpectedAtFirst() {
    assertThat(times.quantileNanos(64 * KIB, 0.05)).isBetween(millis(151), millis(182));
    assertThat(times.quantileNanos(64 * KIB, 0.02)).isEqualTo(times.quantileNanos(1, 0.05));
    assertThat(times.quantileNanos(8192 * KIB, 0.02)).isBetween(millis(289), millis(345));
  }

  /** The first GETs of a JVM are slow: two of them are no base for the others. */
  @Test
  void fewGetsDoNotOutweighWhatIsExpected() {
    record(2, 64 * KIB, 2_000);

    assertThat(times.quantileNanos(64 * KIB, 0.05)).isLessThan(millis(200));
    record(1, 64 * KIB, 2_000);
    assertThat(times.quantileNanos(64 * KIB, 0.05)).isBetween(millis(2_000), millis(2_400));
  }

  @Test
  void fiftyGetsAreBelievedWhateverWasExpected() {
    record(49, 64 * KIB, 30);
    assertThat(times.quantileNanos(64 * KIB, 0.01)).isGreaterThan(millis(150));

    record(1, 64 * KIB, 30);
    assertThat(times.quantileNanos(64 * KIB, 0.01)).isBetween(millis(30), millis(36));
  }

  /** 16 MiB more at 60 MB/s are 280 ms more; fewer bytes may take as long. */
  @Test
  void otherLengthsAreExpectedByTheNearestThatIsKnown() {
    record(50, 64 * KIB, 10);

    assertThat(times.quantileNanos(128 * KIB, 0.05)).isBetween(millis(10), millis(14));
    assertThat(times.quantileNanos(16384 * KIB, 0.05)).isBetween(millis(285), millis(345));
    record(50, 1024 * KIB, 500);
    assertThat(times.quantileNanos(512 * KIB, 0.05)).isBetween(millis(500), millis(600));
    assertThat(times.quantileNanos(128 * KIB, 0.05)).isBetween(millis(10), millis(14));
  }

  @Test
  void quantileIsTheEndOfItsBucket() {
    record(98, 256 * KIB, 40);
    record(2, 256 * KIB, 2_000);

    assertThat(times.quantileNanos(256 * KIB, 0.05)).isBetween(millis(40), millis(48));
    assertThat(times.quantileNanos(256 * KIB, 0.01)).isBetween(millis(2_000), millis(2_400));
  }

  @Test
  void lengthsAreApart() {
    record(60, 64 * KIB, 10);
    record(60, 8192 * KIB, 1_000);
    record(60, 1 << 30, 5_000);

    assertThat(times.quantileNanos(1, 0.05)).isBetween(millis(10), millis(12));
    assertThat(times.quantileNanos(5000 * KIB, 0.05)).isBetween(millis(1_000), millis(1_200));
    assertThat(times.quantileNanos(16384 * KIB, 0.05)).isBetween(millis(5_000), millis(6_000));
  }

  @Test
  void classFollowsTheLink() {
    record(5_000, 64 * KIB, 10);
    record(2_000, 64 * KIB, 300);

    assertThat(times.quantileNanos(64 * KIB, 0.5)).isBetween(millis(300), millis(360));
  }

  @Test
  void anyTimeHasABucket() {
    for (long nanos : new long[] {0, 1, millis(1), millis(100_000), Long.MAX_VALUE}) {
      GetTimes one = new GetTimes();
      for (int i = 0; i < 50; i++) {
        one.took(1, nanos);
      }
      assertThat(one.quantileNanos(1, 0.01)).isPositive();
    }
  }

  private void record(int count, long bytes, long millis) {
    for (int i = 0; i < count; i++) {
      times.took(bytes, millis(millis));
    }
  }

  private static long millis(long value) {
    return TimeUnit.MILLISECONDS.toNanos(value);
  }
}
