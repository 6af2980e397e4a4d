// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FigureTest {

  @Test
  void aNumberTooSmallForItsDecimalsKeepsTwoDigits() {
    assertThat(Figure.P50.text(12.34)).isEqualTo("12.3");
    assertThat(Figure.P50.text(0.1)).isEqualTo("0.1");
    assertThat(Figure.P50.text(0.00006249)).isEqualTo("0.000062");
    assertThat(Figure.P50.text(0)).isEqualTo("0.0");
    assertThat(Figure.P50.text(Double.NaN)).isEqualTo("–");
    assertThat(Figure.GETS.text(0)).isEqualTo("0");
  }
}
