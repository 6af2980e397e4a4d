package io.s3e.hadoop.stats;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Needs the source tree, so it runs in this module only. */
@Tag("source-tree")
class MetricsReferenceTest {
  private static final Path DOCUMENT = Path.of("..", "docs", "METRICS.md");

  /** Written anew with {@code -Ds3e.docs.write=true}. */
  @Test
  void documentIsUpToDate() throws Exception {
    if (Boolean.getBoolean("s3e.docs.write")) {
      MetricsReference.main(new String[] {DOCUMENT.toString()});
    }
    assertThat(Files.readString(DOCUMENT))
        .as(
            "docs/METRICS.md is generated from ReadStatistic; write it anew with"
                + " mvn -pl s3e-hadoop -am test -Dtest=MetricsReferenceTest"
                + " -Dsurefire.failIfNoSpecifiedTests=false -Ds3e.docs.write=true")
        .isEqualTo(MetricsReference.markdown());
  }

  @Test
  void everyStatisticSaysWhatItMeans() {
    for (ReadStatistic statistic : ReadStatistic.values()) {
      assertThat(statistic.meaning()).as(statistic.symbol()).endsWith(".");
    }
  }
}
