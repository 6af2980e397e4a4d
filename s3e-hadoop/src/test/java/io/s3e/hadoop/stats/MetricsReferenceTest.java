// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.stats;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.hadoop.GeneratedPage;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Needs the source tree, so it runs in this module only. */
@Tag("source-tree")
class MetricsReferenceTest {
  @Test
  void documentIsUpToDate() throws Exception {
    GeneratedPage.isUpToDate("METRICS.md", "ReadStatistic", MetricsReference.markdown());
  }

  @Test
  void everyStatisticSaysWhatItMeans() {
    for (ReadStatistic statistic : ReadStatistic.values()) {
      assertThat(statistic.meaning).as(statistic.symbol()).endsWith(".");
    }
  }
}
