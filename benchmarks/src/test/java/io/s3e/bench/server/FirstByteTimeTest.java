// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.LongSummaryStatistics;
import java.util.stream.LongStream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

class FirstByteTimeTest {

  private static final int READS = 100_000;

  private static long[] waits(FirstByteTime time) {
    return LongStream.range(0, READS).map(time::nanosOf).toArray();
  }

  @Test
  void constantIsConstant() {
    assertThat(waits(FirstByteTime.constant(30_000))).containsOnly(30_000);
    assertThat(waits(FirstByteTime.NONE)).containsOnly(0);
  }

  @Test
  void jitterIsSpreadEvenlyAroundTheBase() {
    long[] waits = waits(new FirstByteTime(30_000, 10_000, 0, 1, 7));
    LongSummaryStatistics statistics = LongStream.of(waits).summaryStatistics();

    assertThat(statistics.getMin()).isBetween(20_000L, 20_100L);
    assertThat(statistics.getMax()).isBetween(39_900L, 40_000L);
    assertThat(statistics.getAverage()).isCloseTo(30_000, Offset.offset(100.0));
    long lowestQuarter = LongStream.of(waits).filter(wait -> wait < 25_000).count();
    assertThat(lowestQuarter).isBetween(24_500L, 25_500L);
  }

  @Test
  void tailIsLongerByItsFactorAndAsFrequentAsAsked() {
    long[] waits = waits(new FirstByteTime(30_000, 0, 0.01, 10, 7));

    assertThat(waits).containsOnly(30_000, 300_000);
    assertThat(LongStream.of(waits).filter(wait -> wait == 300_000).count()).isBetween(900L, 1100L);
  }

  @Test
  void jitterAndTailAreIndependent() {
    long[] tail =
        LongStream.of(waits(new FirstByteTime(30_000, 10_000, 0.1, 100, 7)))
            .filter(wait -> wait > 40_000)
            .toArray();

    assertThat(LongStream.of(tail).average().orElseThrow())
        .isCloseTo(3_000_000, Offset.offset(30_000.0));
  }

  @Test
  void waitsDependOnSeedAndNumberAlone() {
    FirstByteTime time = new FirstByteTime(30_000, 10_000, 0.1, 10, 7);

    assertThat(waits(new FirstByteTime(30_000, 10_000, 0.1, 10, 7))).isEqualTo(waits(time));
    assertThat(waits(new FirstByteTime(30_000, 10_000, 0.1, 10, 8))).isNotEqualTo(waits(time));
  }

  @Test
  void valuesOutOfRangeAreNamed() {
    assertThatThrownBy(() -> new FirstByteTime(-1, 0, 0, 1, 0)).hasMessageContaining("baseNanos");
    assertThatThrownBy(() -> new FirstByteTime(5, 6, 0, 1, 0)).hasMessageContaining("jitterNanos");
    assertThatThrownBy(() -> new FirstByteTime(5, 0, 1.5, 1, 0))
        .hasMessageContaining("tailProbability");
    assertThatThrownBy(() -> new FirstByteTime(5, 0, 0.5, Double.NaN, 0))
        .hasMessageContaining("tailFactor");
  }
}
